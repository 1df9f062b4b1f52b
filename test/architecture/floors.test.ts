/** The folders of src/database are floors. Imports, also those of types, lead down and never in a circle. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const database = join(root, 'src', 'database');

/** The floors of the drawing in docs/architecture.md, the lowest first. */
const FLOORS = readFloors();

function readFloors(): string[] {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const section = text.split('\n## The database\n')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, floor]) => floor as string).reverse();
}

const files = globSync('**/*.ts', { cwd: database }).filter(
  (file) => !file.startsWith('generated/'),
);

/** The files of src/database that each file imports. */
const importsByFile = new Map(files.map((file) => [file, listImports(file)]));

function listImports(file: string): string[] {
  const text = readFileSync(join(database, file), 'utf8');
  const statements = [
    ...text.matchAll(/^(?:import|export)\s[^;]*?from\s+'(\.[^']+)';/gms),
    ...text.matchAll(/\bimport\('(\.[^']+)'\)/g),
  ];
  return statements
    .map(([, path]) => normalize(join(dirname(file), path as string)))
    .filter((target) => files.includes(target));
}

const getFloor = (file: string) => FLOORS.indexOf(file.split('/')[0] as string);

test('every file is on a floor', () => {
  expect(files.filter((file) => getFloor(file) < 0)).toEqual([]);
  expect(FLOORS.at(0)).toBe('connect');
});

test('no file imports a higher floor', () => {
  const upward = [...importsByFile].flatMap(([file, targets]) =>
    targets
      .filter((target) => getFloor(target) > getFloor(file))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

test('no files import each other in a circle', () => {
  expect(files.filter((file) => reaches(file, file))).toEqual([]);
});

/** True if a chain of imports leads from `from` to `to`. */
function reaches(from: string, to: string, visited = new Set<string>()): boolean {
  return (importsByFile.get(from) ?? []).some((target) => {
    if (target === to) return true;
    if (visited.has(target)) return false;
    visited.add(target);
    return reaches(target, to, visited);
  });
}
