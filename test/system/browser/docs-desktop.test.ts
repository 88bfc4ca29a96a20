import { describePages } from './docs-pages.ts';

describePages('desktop');
