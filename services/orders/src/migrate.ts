// Brings the schema of orders up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrateService } from '@shop/shared/service';

await migrateService('orders', fileURLToPath(new URL('..', import.meta.url)));
