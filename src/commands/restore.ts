/**
 * Fills the configured database, which must be empty, with a backup: `npm run restore -- <file>`. Unless `--resend` is
 * given, pending deliveries fail, pending provider events are dropped, approved proposals expire, and unfinished writes
 * follow the rules for unknown outcomes. Running reads always continue.
 */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ArchiveHead, readArchive } from '../backup/archive.ts';
import { writeDataFiles } from '../backup/data-files.ts';
import { loadCopy } from '../backup/load-copy.ts';
import { type Files, unsealFiles } from '../backup/sealed-files.ts';
import { openTarget } from '../backup/source-and-target.ts';
import { type SuspendedWork, suspendPendingWork } from '../backup/suspend-pending-work.ts';
import { DATABASE_FOLDER, UNFINISHED_FOLDER } from '../database/connect/embedded/data-folder.ts';
import { LOCK_FILE } from '../database/connect/embedded/data-folder-lock.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { type Config, readConfig } from '../settings/config.ts';
import {
  formatKeySettings,
  formatRowCount,
  getDatabaseLocation,
  runCommand,
} from './run-command.ts';

const USAGE = 'Usage: BACKUP_PASSPHRASE=… npm run restore -- <file> [--without-keys] [--resend]';

await runCommand(USAGE, async () => {
  const flag = { type: 'boolean' } as const;
  const options = { 'without-keys': flag, resend: flag };
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [file, ...extraArguments] = positionals;
  if (!file || extraArguments.length > 0) return null;
  const { 'without-keys': withoutKeys = false, resend = false } = values;
  return () => restore(file, { withoutKeys, resend });
});

interface RestoreOptions {
  withoutKeys: boolean;
  resend: boolean;
}

async function restore(file: string, { withoutKeys, resend }: RestoreOptions): Promise<void> {
  const config = readConfig(process.env);
  const { head, copy } = await readArchive(file);
  const files = withoutKeys ? {} : openArchiveFiles(head);
  let suspendedWork: SuspendedWork | undefined;
  const undo = createUndo(config, files);
  const fillDatabase = async () => {
    await using target = await openTarget(getDatabaseLocation(config), createLog('warn'));
    // Keys are written before rows. A start with rows and without keys would create different keys.
    const skippedFiles = writeDataFiles(config.DATA_DIR, files);
    const totals = await loadCopy(target, copy, {
      log: createLog('warn'),
      beforeCommit: async (session) => {
        suspendedWork = await suspendPendingWork(session, { resend });
      },
    });
    return { skippedFiles, totals };
  };
  const { skippedFiles, totals } = await fillDatabase().catch((error: unknown) => {
    undo();
    throw error;
  });
  console.log(`Restored ${formatRowCount(totals)} as of ${head.takenTime}.`);
  if (suspendedWork) reportSuspendedWork(head, suspendedWork);
  reportKeys(config, files, skippedFiles);
}

/** Returns a function that removes the files of a failed restore from the data folder, and the folder if it is new. */
function createUndo({ DATA_DIR }: Config, files: Files): () => void {
  const findFirstMissing = (path: string): string =>
    path === DATA_DIR || existsSync(dirname(path)) ? path : findFirstMissing(dirname(path));
  const newPaths = [DATABASE_FOLDER, UNFINISHED_FOLDER, LOCK_FILE, ...Object.keys(files)]
    .map((name) => join(DATA_DIR, name))
    .filter((path) => !existsSync(path))
    .map(findFirstMissing);
  return () => {
    for (const path of newPaths) rmSync(path, { recursive: true, force: true });
  };
}

function openArchiveFiles({ files }: ArchiveHead): Files {
  if (!files) {
    throw new StartRefused(
      'The backup has no keys: put those of the original into ENCRYPTION_KEY and ENCRYPTION_KEYS_RETIRED, or into the ' +
        'file encryption-keys of DATA_DIR, and restore with --without-keys.',
    );
  }
  const passphrase = process.env.BACKUP_PASSPHRASE;
  if (!passphrase) {
    throw new StartRefused(
      'Set BACKUP_PASSPHRASE to the passphrase with which the backup was taken.',
    );
  }
  return unsealFiles(files, passphrase);
}

/** Reports suspended work, and what may have changed after the backup was taken. */
function reportSuspendedWork(
  { takenTime }: ArchiveHead,
  { deliveries, writes, providerEvents, proposals, reads }: SuspendedWork,
): void {
  const lines = [
    ['Pending deliveries set to FAILED', deliveries, 'Retry them with retryDelivery.'],
    [
      'Unfinished writes',
      writes,
      'Updates and deletions are repeated. Creations are repeated only with a valid idempotency key.',
    ],
    ['Pending provider events dropped', providerEvents, 'Reads fetch their records.'],
    ['Approved proposals expired', proposals, 'Agents may propose again.'],
    [
      'Running reads',
      reads,
      'They continue after the last page in the backup, so some records may repeat.',
    ],
  ] as const;
  console.log(`Changes after ${takenTime} are not in the backup:`);
  for (const [work, count, effect] of lines) {
    if (count > 0) console.log(`- ${work}: ${count}. ${effect}`);
  }
  console.log(
    '- Tokens that providers renewed later may not work: those connections need new consent.',
  );
  console.log('- Keys, members and connections that were removed later are back: remove them.');
}

function reportKeys(config: Config, files: Files, skippedFiles: string[]): void {
  for (const path of skippedFiles) {
    console.log(
      `${join(config.DATA_DIR, path)} already exists and was kept: the backup has a different one.`,
    );
  }
  if (config.DATABASE_URL && files['encryption-keys']) {
    console.log('Start with the keys of the original:');
    for (const line of formatKeySettings(config.DATA_DIR)) console.log(`  ${line}`);
  }
}
