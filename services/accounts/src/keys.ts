// The operator's command for signing keys: `rotate`, `revoke KID`, `list`, `check`.
import { StartError } from '@shop/shared/runtime';
import { runCommand, withDatabase } from '@shop/shared/service';
import { readKeyStoreConfig } from './config.ts';
import { listKeys, requireOpenKeys, revokeKey, rotateKeys } from './rotate-keys.ts';
import { createSeal } from './seal.ts';

const [verb, kid, ...rest] = process.argv.slice(2);
const usage = 'use: keys rotate | keys revoke KID | keys list | keys check';

await runCommand('keys', async (say) => {
  const { databaseUrl: url, keyEncryptionSecret } = readKeyStoreConfig(process.env);
  const seal = createSeal(keyEncryptionSecret);
  await withDatabase({ url, name: 'accounts keys' }, async (database) => {
    if (verb === 'rotate' && kid === undefined) await rotateKeys(database, seal);
    else if (verb === 'revoke' && kid !== undefined && rest.length === 0) await revokeKey(database, seal, kid);
    else if (verb === 'check' && kid === undefined) await requireOpenKeys(database, seal);
    else if (verb !== 'list' || kid !== undefined) throw new StartError(usage);
    say({ keys: await listKeys(database) });
  });
});
