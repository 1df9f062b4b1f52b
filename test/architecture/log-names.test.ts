/**
 * Tests the names of log lines, which operators search for: all have the same form, and docs/operations/logs.md explains each.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const LOG_CALL =
  /\b(?:log|this\.#log|\.log)(?:\.(?:debug|info|warn|error)|\[[^\]]+\])\((?<args>[^;]*?)\)(?:;|,?\n|\s*\))|new Outage\((?<outage>[^;]*?)\);|\b(?:retryEvent|defectEvent): (?<named>'[^']*')/gs;

const names = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.includes('generated'))
  .flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(LOG_CALL)].map(({ groups = {} }) => {
      const literals = (groups.args ?? groups.outage ?? groups.named ?? '').match(/'[^']*'/g) ?? [];
      return { file, name: literals.at(-1)?.slice(1, -1) ?? '' };
    });
  })
  .filter(({ name }) => name !== '');

test('lists every log name in docs/operations/logs.md, in the form <subject>.<state>', () => {
  const documented = readFileSync(join(root, 'docs/operations/logs.md'), 'utf8');
  const malformed = names.filter(
    ({ name }) =>
      !/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(name) || !documented.includes(`\`${name}\``),
  );
  expect(malformed).toEqual([]);
  expect(names.length).toBeGreaterThan(40);
});

test('logs errors as `err`, because other fields print an error as {}', () => {
  const fields = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.includes('generated'))
    .flatMap(
      (file) => readFileSync(join(root, file), 'utf8').match(/\blog[.\w#]*\(\s*\{[^{}]*\}/gi) ?? [],
    );
  expect(fields.filter((text) => /[{,]\s*error\s*[,}]/.test(text))).toEqual([]);
  expect(fields.length).toBeGreaterThan(40);
});

test('lists no name in docs/operations/logs.md that no line has', () => {
  const documented = readFileSync(join(root, 'docs/operations/logs.md'), 'utf8');
  const listedNames = [...documented.matchAll(/^\| (?<cell>[^|]*) \|/gm)].flatMap(
    ({ groups }) => groups?.cell?.match(/(?<=`)[a-z_]+\.[a-z_]+(?=`)/g) ?? [],
  );
  const loggedNames = new Set(names.map(({ name }) => name));
  expect(listedNames.filter((name) => !loggedNames.has(name))).toEqual([]);
  expect(listedNames.length).toBeGreaterThan(40);
});
