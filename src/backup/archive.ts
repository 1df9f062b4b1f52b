/**
 * Writes and reads a copy as a file of JSON lines, compressed with zstd. The first line describes the copy, the rows of
 * each table follow, and the last line has the totals. A file without the last line is incomplete.
 */
import { once } from 'node:events';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { StartRefused } from '../kernel/errors.ts';
import type { Copy, CopyHead, CopyPart, CopyTotals } from './database-copy.ts';
import type { SealedFiles } from './sealed-files.ts';

const FORMAT = 1;
const OWNER_ONLY = 0o600;

export interface ArchiveHead extends CopyHead {
  /** Files of the data folder, including the encryption keys. Null if they were omitted. */
  files: SealedFiles | null;
}

/** Writes the archive. If it fails, no file remains. */
export async function writeArchive(
  path: string,
  files: SealedFiles | null,
  { head, parts }: Copy,
): Promise<CopyTotals> {
  const temporaryPath = `${path}.unfinished`;
  const file = createWriteStream(temporaryPath, { flags: 'w', mode: OWNER_ONLY });
  const lines = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  const writing = finished(lines.pipe(file));
  // `writing` is awaited at the end. Until then, a rejection must not end the process.
  writing.catch(() => {});
  file.on('error', (error) => lines.destroy(error));
  const write = async (value: unknown) => {
    if (!lines.write(`${JSON.stringify(value)}\n`)) await once(lines, 'drain');
  };
  try {
    await write({ format: FORMAT, ...head, files } satisfies ArchiveHead & { format: number });
    const totals = await writeParts(parts, write);
    await write(totals);
    lines.end();
    await writing;
    syncFile(temporaryPath);
    renameSync(temporaryPath, path);
    return totals;
  } catch (error) {
    lines.destroy();
    rmSync(temporaryPath, { force: true });
    throw error;
  }
}

async function writeParts(
  parts: Copy['parts'],
  write: (value: unknown) => Promise<void>,
): Promise<CopyTotals> {
  for (;;) {
    const { done, value } = await parts.next();
    if (done) return value;
    await write(value);
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

/**
 * Returns the first line of the archive and the copy. Throws StartRefused if the archive is damaged or incomplete,
 * immediately or while the copy is read.
 */
export async function readArchive(path: string): Promise<{ head: ArchiveHead; copy: Copy }> {
  const lines = readLines(path);
  const { value } = await lines.next();
  const head = value as (ArchiveHead & { format: number }) | undefined;
  if (head?.format !== FORMAT) {
    throw new StartRefused(
      `${path} is not a backup of a gateway, or a newer version has written it.`,
    );
  }
  return { head, copy: { head, parts: readParts(path, lines) } };
}

async function* readParts(
  path: string,
  lines: AsyncGenerator<unknown>,
): AsyncGenerator<CopyPart, CopyTotals> {
  for await (const line of lines) {
    if ('tables' in (line as CopyPart | CopyTotals)) return line as CopyTotals;
    yield line as CopyPart;
  }
  throw new StartRefused(`${path} is incomplete: its end is missing.`);
}

async function* readLines(path: string): AsyncGenerator<unknown> {
  const decompressed = createReadStream(path)
    .on('error', (error) => decompressed.destroy(error))
    .pipe(createZstdDecompress());
  try {
    for await (const line of createInterface({
      input: decompressed,
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      yield JSON.parse(line);
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new StartRefused(`There is no file ${path}.`);
    throw new StartRefused(`${path} is damaged (${(cause as Error).message}).`, { cause });
  }
}
