// The tests of the support on a database with the locale C, which knows the capital letters of ASCII only.
import { useLocale } from '@shop/shared/testing';

useLocale('C');
await import('./support.test.ts');
