/** Shared parts of commands that work on a whole database. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { End } from '../copies/copy.ts';
import { StartRefused } from '../errors.ts';

/** Exits with 2 if the arguments are invalid, and with 1 and the reason if the command is refused. */
export async function runCommand(
  usage: string,
  parse: () => Promise<(() => Promise<void>) | null>,
): Promise<void> {
  const run = await parse().catch(() => null);
  if (!run) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  try {
    await run();
  } catch (error) {
    console.error(error instanceof StartRefused ? error.message : error);
    process.exitCode = 1;
  }
}

/** The location of the configured database: its URL without a pooler, or its folder. */
export function whereIs({ DATABASE_LISTEN_URL, DATABASE_URL, DATA_DIR }: Config): string {
  return (DATABASE_LISTEN_URL ?? DATABASE_URL)?.reveal() ?? DATA_DIR;
}

export function countRows({ tables }: End): string {
  const extents = Object.values(tables);
  const rows = extents.reduce((sum, extent) => sum + Number(extent.rows), 0);
  return `${rows} rows of ${extents.length} tables`;
}

/** Shell lines that set the keys of a data folder. */
export function keySettings(dataDir: string): string[] {
  const file = join(dataDir, 'encryption-keys');
  return [
    `ENCRYPTION_KEY=$(head -n 1 ${file})`,
    `ENCRYPTION_KEYS_RETIRED=$(tail -n +2 ${file} | paste -sd, -)`,
  ];
}
