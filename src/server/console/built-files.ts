/** The built files of the console: which there are, and in which forms. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export interface BuiltFile {
  /** Where it lies. */
  file: string;
  type: string;
  /** False for pages, which are sent at addresses of their own. */
  isAlone: boolean;
  /** Whether its name changes with its content. */
  isHashed: boolean;
  etag: string;
  /** The compressed forms beside it. */
  encodings: Set<string>;
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Beginning with the best. */
export const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** By their path below the folder: only what is listed here can be requested. */
export async function listBuiltFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'));
  const known = new Set(paths);
  const files = new Map<string, BuiltFile>();
  for (const path of paths) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const file = join(folder, path);
    const digest = createHash('sha256')
      .update(await readFile(file))
      .digest('base64url');
    const present = ENCODINGS.filter(([, suffix]) => known.has(path + suffix));
    files.set(path, {
      file,
      type,
      isAlone: !path.endsWith('.html'),
      isHashed: path.startsWith('assets/'),
      etag: `"${digest.slice(0, 22)}"`,
      encodings: new Set(present.map(([name]) => name)),
    });
  }
  return files;
}
