// Brings the schema of accounts up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrateService } from '@shop/shared/service';

await migrateService('accounts', fileURLToPath(new URL('..', import.meta.url)));
