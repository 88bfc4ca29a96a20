// Brings the schema of the catalogue up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrateService } from '@shop/shared/service';

await migrateService('catalogue', fileURLToPath(new URL('..', import.meta.url)));
