/**
 * Seals all secrets with the current key: `npm run reencrypt`. Without ENCRYPTION_KEY, `-- --new-key` creates a key
 * first. With the embedded database, the server must be stopped.
 */
import { parseArgs } from 'node:util';
import { openDatabase } from '../database/open/open-database.ts';
import { addEncryptionKey, loadEncryptionKeys } from '../domain/tenants/keys/encryption-keys.ts';
import { reencrypt } from '../domain/tenants/keys/re-encryption.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { createVault } from '../kernel/secrets.ts';
import { readConfig } from '../settings/config.ts';
import { runCommand } from './run-command.ts';

const USAGE = 'Usage: npm run reencrypt [-- --new-key]';

await runCommand(USAGE, async () => {
  const { values } = parseArgs({ options: { 'new-key': { type: 'boolean' } } });
  return () => reencryptAll({ wantsNewKey: values['new-key'] ?? false });
});

async function reencryptAll({ wantsNewKey }: { wantsNewKey: boolean }): Promise<void> {
  const config = readConfig(process.env);
  if (wantsNewKey && config.ENCRYPTION_KEY) {
    throw new StartRefused(
      'ENCRYPTION_KEY is set: put the new key there, and the old one into ENCRYPTION_KEYS_RETIRED.',
    );
  }
  await using database = await openDatabase(config, createLog('warn'));
  const keys = wantsNewKey ? addEncryptionKey(config) : loadEncryptionKeys(config);
  const reencryptedCount = await reencrypt(database.run, createVault(keys));
  console.log(`${reencryptedCount} values re-encrypted with the current key.`);
}
