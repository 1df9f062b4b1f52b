/**
 * Installs the project as `npm ci --omit=dev` does in a clone, with links to the packages that are installed
 * here.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from './documents.ts';

const OMITTED_FOLDERS = ['.git', 'data', 'node_modules', 'test', 'bench'];
const PACKAGE_FOLDER = 'node_modules';

export function installProduction(folder: string): void {
  for (const name of readdirSync(ROOT)) {
    if (OMITTED_FOLDERS.includes(name)) continue;
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => basename(path) !== PACKAGE_FOLDER,
    });
  }
  const packages = listProductionPackages();
  for (const path of packages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  linkPrograms(join(folder, PACKAGE_FOLDER, '.bin'), packages);
}

/** Returns the packages of the top level. The link to a package includes its nested packages. */
function listProductionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const entries: [string, { dev?: boolean }][] = Object.entries(lock.packages);
  return entries
    .filter(([path, { dev }]) => path.lastIndexOf(PACKAGE_FOLDER) === 0 && !dev)
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

function linkPrograms(folder: string, packages: string[]): void {
  mkdirSync(folder);
  const programFolder = join(ROOT, PACKAGE_FOLDER, '.bin');
  for (const name of readdirSync(programFolder)) {
    const target = readlinkSync(join(programFolder, name));
    const isKept = packages.some((path) =>
      join(programFolder, target).startsWith(join(ROOT, path, '/')),
    );
    if (isKept) symlinkSync(target, join(folder, name));
  }
}
