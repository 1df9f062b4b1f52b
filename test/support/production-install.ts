/** The project as `npm ci --omit=dev` leaves it in a clone, made of what is installed here. */
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

const NOT_COPIED = ['.git', 'data', 'node_modules', 'test', 'bench'];
const PACKAGES = 'node_modules';

export function installProduction(folder: string): void {
  for (const name of readdirSync(ROOT)) {
    if (NOT_COPIED.includes(name)) continue;
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => basename(path) !== PACKAGES,
    });
  }
  const packages = productionPackages();
  for (const path of packages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  linkPrograms(join(folder, PACKAGES, '.bin'), packages);
}

/** Those of the top level: what lies deeper comes along. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const entries: [string, { dev?: boolean }][] = Object.entries(lock.packages);
  return entries
    .filter(([path, { dev }]) => path.lastIndexOf(PACKAGES) === 0 && !dev)
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

function linkPrograms(folder: string, packages: string[]): void {
  mkdirSync(folder);
  const own = join(ROOT, PACKAGES, '.bin');
  for (const name of readdirSync(own)) {
    const target = readlinkSync(join(own, name));
    const isKept = packages.some((path) => join(own, target).startsWith(join(ROOT, path, '/')));
    if (isKept) symlinkSync(target, join(folder, name));
  }
}
