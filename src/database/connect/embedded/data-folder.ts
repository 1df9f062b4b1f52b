/** The data folder is the only copy of the data. An incomplete database is refused, and never replaced by a new one. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefused } from '../../../kernel/errors.ts';

/** The folder of the database in DATA_DIR. */
export const DATABASE_FOLDER = 'database';
/** The folder of a new database until it is complete. */
export const UNFINISHED_FOLDER = 'database.unfinished';
/** The PostgreSQL version of PGlite. */
const MAJOR_VERSION = '18';
const FILES = ['PG_VERSION', 'global/pg_control', 'postgresql.conf', 'base/1/PG_VERSION'];
const FOLDERS = [
  'global',
  'base',
  'pg_wal',
  'pg_xact',
  'pg_multixact/members',
  'pg_multixact/offsets',
];
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** The offset in pg_control of the position where recovery begins, and of its timeline. */
const REDO_OFFSET = 40;
const TIMELINE_OFFSET = 48;
const CONTROL_BYTES = 8192;

/** Throws StartRefused that names the missing file. Writes nothing. */
export function requireIntactFolder(dataDir: string): void {
  const folder = join(dataDir, DATABASE_FOLDER);
  if (!existsSync(folder) || readdirSync(folder).length === 0) {
    const keys = join(dataDir, 'encryption-keys');
    if (existsSync(keys)) throw createDamageError(folder, `is missing, although ${keys} exists`);
    return;
  }
  for (const name of FOLDERS) {
    const path = join(folder, name);
    if (!existsSync(path)) throw createDamageError(path, 'is missing');
    if (readdirSync(path).length === 0) throw createDamageError(path, 'is empty');
  }
  for (const name of FILES) {
    const path = join(folder, name);
    if (!existsSync(path)) throw createDamageError(path, 'is missing');
    if (statSync(path).size === 0) throw createDamageError(path, 'is empty');
  }
  const version = join(folder, 'PG_VERSION');
  if (readFileSync(version, 'utf8').trim() !== MAJOR_VERSION) {
    throw createDamageError(version, `does not say ${MAJOR_VERSION}, the version of this database`);
  }
  requireRecoveryLog(folder);
}

/** Throws if the log file in which recovery begins is missing. Without it, later files of the log are useless. */
function requireRecoveryLog(folder: string): void {
  const control = join(folder, 'global/pg_control');
  const bytes = readFileSync(control);
  if (bytes.length !== CONTROL_BYTES)
    throw createDamageError(control, `does not have ${CONTROL_BYTES} bytes`);
  const segment = bytes.readBigUInt64LE(REDO_OFFSET) / BigInt(SEGMENT_BYTES);
  const segmentsPerName = 2n ** 32n / BigInt(SEGMENT_BYTES);
  const parts = [
    BigInt(bytes.readUInt32LE(TIMELINE_OFFSET)),
    segment / segmentsPerName,
    segment % segmentsPerName,
  ];
  const name = parts.map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('');
  const path = join(folder, 'pg_wal', name);
  if (!existsSync(path)) throw createDamageError(path, 'is missing');
  if (statSync(path).size !== SEGMENT_BYTES) {
    throw createDamageError(path, `does not have ${SEGMENT_BYTES} bytes`);
  }
}

export function createDamageError(
  path: string,
  problem: string,
  options?: ErrorOptions,
): StartRefused {
  const message =
    `The data folder is damaged: ${path} ${problem}. Restore the whole DATA_DIR from a backup. ` +
    'To start without its data, move it away or set another DATA_DIR.';
  return Object.assign(new StartRefused(message), options);
}
