/** Parses arguments, prints results and errors, and finds the database and keys for the commands. */
import { join } from 'node:path';
import type { z } from 'zod';
import { readDataFiles } from '../backup/data-files.ts';
import type { CopyTotals } from '../backup/database-copy.ts';
import type { Files } from '../backup/sealed-files.ts';
import { findEncryptionKeys, formatKeyFile } from '../domain/tenants/keys/encryption-keys.ts';
import { DomainError, ServiceUnavailable, StartRefused } from '../kernel/errors.ts';
import type { Config } from '../settings/config.ts';
import { answerHelp } from './usage.ts';

/** An error for the user, printed without a stack. */
export class CommandError extends Error {}

/** Parses arguments. Throws a CommandError with the usage if they are invalid. */
export function parseOptions<T>(usage: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n${usage}`);
  }
}

/**
 * Parses arguments and validates them with a schema. Throws a CommandError with every problem and the usage if they are
 * invalid.
 */
export function readOptions<S extends z.ZodType>(
  usage: string,
  schema: S,
  parse: () => object,
): z.output<S> {
  const { data, error } = schema.safeParse(parseOptions(usage, () => ({ ...parse() })));
  if (!error) return data;
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `--${path.join('.')}: ${message}` : message,
  );
  throw new CommandError(`${problems.join('\n')}\n${usage}`);
}

/** Prints the result of a command, or the usage for `--help`. After an error, prints it and exits with 1. */
export async function printResult(usage: string, run: () => Promise<string>): Promise<void> {
  answerHelp(usage);
  try {
    console.log(await run());
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}

const ERRORS_FOR_USERS = [CommandError, StartRefused, DomainError, ServiceUnavailable];

/** Prints an error that ends a command. Only an unexpected error has a stack. */
export function printError(error: unknown): void {
  const isForUser = ERRORS_FOR_USERS.some((kind) => error instanceof kind);
  console.error(isForUser ? (error as Error).message : (describeFailure(error) ?? error));
}

/** Errors of the system and of PostgreSQL have a code, and their messages are complete. Null for other errors. */
function describeFailure(error: unknown): string | null {
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== 'string' || code.startsWith('ERR_')) return null;
  return `${message || 'The command failed'} (${code}).`;
}

/**
 * Runs a command, or prints the usage for `--help`. `parse` returns null or throws if the arguments are invalid: the
 * command then prints the usage and exits with 2. If the command fails, it prints the error and exits with 1.
 */
export async function runCommand(
  usage: string,
  parse: () => Promise<(() => Promise<void>) | null>,
): Promise<void> {
  answerHelp(usage);
  const run = await parse().catch(() => null);
  if (!run) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  try {
    await run();
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}

/** Returns the location of the configured database: its URL without a pooler, or its folder. */
export function getDatabaseLocation({
  DATABASE_LISTEN_URL,
  DATABASE_URL,
  DATA_DIR,
}: Config): string {
  return (DATABASE_LISTEN_URL ?? DATABASE_URL)?.reveal() ?? DATA_DIR;
}

export function formatRowCount({ tables }: CopyTotals): string {
  const extents = Object.values(tables);
  const rows = extents.reduce((sum, extent) => sum + Number(extent.rows), 0);
  return `${rows} rows of ${extents.length} tables`;
}

/** Reads the files of the data folder. Keys from the environment are returned as the file `encryption-keys`. */
export function readFilesWithKeys(config: Config): Files {
  const keys = findEncryptionKeys(config);
  const files = readDataFiles(config.DATA_DIR);
  return keys ? { ...files, 'encryption-keys': formatKeyFile(keys) } : files;
}

/** Returns shell lines that set the keys of a data folder. */
export function formatKeySettings(dataDir: string): string[] {
  const file = join(dataDir, 'encryption-keys');
  return [
    `ENCRYPTION_KEY=$(head -n 1 ${file})`,
    `ENCRYPTION_KEYS_RETIRED=$(tail -n +2 ${file} | paste -sd, -)`,
  ];
}
