// Brings the schema of changes up to date and exits.
import { fileURLToPath } from 'node:url';
import { migrateService } from '@shop/shared/service';

await migrateService('changes', fileURLToPath(new URL('..', import.meta.url)));
