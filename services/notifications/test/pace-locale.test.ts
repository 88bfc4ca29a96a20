// The tests of the limit for a recipient on a database with the locale C, which knows the capital letters of ASCII only.
import { useLocale } from '@shop/shared/testing';

useLocale('C');
await import('./pace.test.ts');
