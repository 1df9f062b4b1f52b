/**
 * Copies the whole database to PostgreSQL, or to the folder of an embedded database: `npm run move -- --to
 * postgresql://…`, or `--to <folder>`. Ids, cursors and keys stay the same.
 */
import { parseArgs } from 'node:util';
import { writeDataFiles } from '../backup/data-files.ts';
import { takeCopy } from '../backup/database-copy.ts';
import { loadCopy } from '../backup/load-copy.ts';
import { isPostgres, openCopySource, openTarget } from '../backup/source-and-target.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { type Config, readConfig } from '../settings/config.ts';
import {
  formatKeySettings,
  formatRowCount,
  getDatabaseLocation,
  readFilesWithKeys,
  runCommand,
} from './run-command.ts';

const USAGE = 'Usage: npm run move -- --to <postgresql://… or folder>';

await runCommand(USAGE, async () => {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  const { to } = values;
  return to ? () => move(to) : null;
});

async function move(to: string): Promise<void> {
  const config = readConfig(process.env);
  const from = getDatabaseLocation(config);
  if (from === to) throw new StartRefused('--to: the database is already there.');
  const log = createLog('warn');
  await using source = await openCopySource(from, log);
  await using target = await openTarget(to, log);
  const isInUse = await source.isInUse();
  await source.inSession(async (session) => {
    const copy = await takeCopy(session);
    const totals = await loadCopy(target, copy, { log });
    console.log(
      `${formatRowCount(totals)} as of ${copy.head.takenTime} are copied; counts and checksums agree.`,
    );
  });
  if (isInUse) {
    console.log(
      'A gateway is running on the original: later changes are not in the copy. To move permanently, stop it ' +
        'first, and move into an empty database or folder again.',
    );
  }
  if (!isPostgres(to)) writeDataFiles(to, readFilesWithKeys(config));
  for (const line of listSettings(config, to)) console.log(line);
}

function listSettings(config: Config, to: string): string[] {
  if (!isPostgres(to))
    return ['Start with:', `  DATA_DIR=${to}`, '  and without DATABASE_URL and ENCRYPTION_KEY'];
  const keys = config.ENCRYPTION_KEY ? [] : formatKeySettings(config.DATA_DIR);
  return [
    'Start with these, and keep DATA_DIR, which has the keys that sign tokens:',
    '  DATABASE_URL=<the value of --to>',
    ...keys.map((line) => `  ${line}`),
  ];
}
