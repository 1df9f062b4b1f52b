/**
 * Backs up the configured database, even while the gateway runs: `npm run backup -- <file>`. The backup contains the
 * encryption keys, sealed with BACKUP_PASSPHRASE, unless `--without-keys` omits them.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeArchive } from '../backup/archive.ts';
import { takeCopy } from '../backup/database-copy.ts';
import { refuseWeakPassphrase, sealFiles } from '../backup/sealed-files.ts';
import { openCopySource } from '../backup/source-and-target.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { readConfig } from '../settings/config.ts';
import {
  formatRowCount,
  getDatabaseLocation,
  readFilesWithKeys,
  runCommand,
} from './run-command.ts';

const USAGE = 'Usage: BACKUP_PASSPHRASE=… npm run backup -- <file> [--without-keys]';

await runCommand(USAGE, async () => {
  const options = { 'without-keys': { type: 'boolean' } } as const;
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [file, ...extraArguments] = positionals;
  if (!file || extraArguments.length > 0) return null;
  return () => backUp(file, { withKeys: !values['without-keys'] });
});

async function backUp(file: string, { withKeys }: { withKeys: boolean }): Promise<void> {
  const passphrase = process.env.BACKUP_PASSPHRASE;
  if (withKeys && !passphrase) {
    throw new StartRefused(
      'Set BACKUP_PASSPHRASE, which seals the encryption keys in the backup, or omit them with --without-keys.',
    );
  }
  if (withKeys && passphrase) refuseWeakPassphrase(passphrase);
  if (existsSync(file)) throw new StartRefused(`${file} already exists: name another file.`);
  const config = readConfig(process.env);
  const files = withKeys && passphrase ? sealFiles(readFilesWithKeys(config), passphrase) : null;
  await using source = await openCopySource(getDatabaseLocation(config), createLog('warn'));
  await source.inSession(async (session) => {
    const copy = await takeCopy(session);
    const end = await writeArchive(file, files, copy);
    console.log(`${formatRowCount(end)} as of ${copy.head.takenTime} are in ${file}.`);
    if (!withKeys) {
      console.log(
        'The encryption keys are not in it. Keep them: sealed values cannot be decrypted without them.',
      );
    }
  });
}
