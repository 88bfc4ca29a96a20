// Brings the schema of notifications up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrateService } from '@shop/shared/service';

await migrateService('notifications', fileURLToPath(new URL('..', import.meta.url)));
