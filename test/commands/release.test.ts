/**
 * Tests `npm run release` in a new Git repository.
 *
 * @module-tag all/process
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { formatReleasedSchema, RELEASED_SCHEMA } from '../../scripts/released-schema.ts';
import { ROOT } from '../support/documents.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n### Added\n\n- A field.\n\n## 1.0.0 - 2026-01-01\n';
const SCHEMA = '"""The root."""\ntype Query {\n  id: ID\n  added: ID\n}\n';
const FILES: Record<string, string> = {
  'package.json': `${JSON.stringify({ name: 'gateway', version: '1.0.0', scripts: { types: 'exit 0', lint: 'exit 0', test: 'exit 0' } }, null, 2)}\n`,
  'package-lock.json': `${JSON.stringify({ name: 'gateway', version: '1.0.0', lockfileVersion: 3, requires: true, packages: { '': { name: 'gateway', version: '1.0.0' } } }, null, 2)}\n`,
  'CHANGELOG.md': CHANGELOG,
  'schema.graphql': SCHEMA,
  [RELEASED_SCHEMA]: formatReleasedSchema('type Query { id: ID }'),
};

/** Creates a Git repository with FILES and the changed files on its branch main. */
function createRepository(changedFiles: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    ...PROCESS_ENV,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Ada'],
        [`GIT_${role}_EMAIL`, 'ada@example.com'],
      ]),
    ),
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries({ ...FILES, ...changedFiles })) write(path, text);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  const release = (...args: string[]) => {
    const argv = [join(ROOT, 'scripts/release.ts'), ...args];
    const { status, stderr } = spawnSync(process.execPath, argv, {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, stderr };
  };
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const readState = () => ({
    changes: git('status', '--porcelain'),
    commits: git('log', '--format=%s'),
    tags: git('tag'),
    version: JSON.parse(read('package.json')).version,
  });
  return { folder, git, write, read, release, readState };
}

const UNCHANGED = { changes: '', commits: 'Begin', tags: '', version: '1.0.0' };

test('writes the version, the changelog and the schema, then commits and tags', () => {
  const { git, read, release, readState } = createRepository();
  expect(release('1.1.0', '--skip-checks')).toEqual({ status: 0, stderr: '' });
  expect(readState()).toEqual({
    changes: '',
    commits: 'Release 1.1.0\nBegin',
    tags: 'v1.1.0',
    version: '1.1.0',
  });
  expect(git('rev-parse', 'v1.1.0^{commit}')).toBe(git('rev-parse', 'main'));
  const lock = JSON.parse(read('package-lock.json'));
  expect([lock.version, lock.packages[''].version]).toEqual(['1.1.0', '1.1.0']);
  const date = /^## 1\.1\.0 - (\d{4}-\d\d-\d\d)$/m.exec(read('CHANGELOG.md'))?.[1];
  expect(read('CHANGELOG.md')).toBe(
    CHANGELOG.replace('## Unreleased', `## Unreleased\n\n## 1.1.0 - ${date}`),
  );
  expect(read(RELEASED_SCHEMA)).toBe(formatReleasedSchema(SCHEMA));
});

test('reports every reason for a refusal, and changes nothing', () => {
  const { git, write, release, readState } = createRepository({
    'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- A field.\n',
  });
  git('tag', 'v0.9.0');
  git('switch', '--quiet', '--create', 'topic');
  write('new.txt', '');
  const { status, stderr } = release('0.9.0', '--skip-checks');
  expect(status).toBe(1);
  for (const reason of [
    '0.9.0 is not greater than 1.0.0.',
    'The branch is topic, not main.',
    'The tag v0.9.0 exists already.',
    'not committed:\n?? new.txt',
    'CHANGELOG.md has no entry under "Unreleased".',
  ]) {
    expect(stderr).toContain(reason);
  }
  expect(readState()).toEqual({ ...UNCHANGED, changes: '?? new.txt', tags: 'v0.9.0' });
});

test('refuses invalid versions', () => {
  const { release, readState } = createRepository();
  for (const version of ['1', '1.2', 'v1.2.0', '01.2.0', '1.2.0+build', 'next']) {
    const { status, stderr } = release(version, '--skip-checks');
    expect([status, stderr]).toEqual([1, expect.stringContaining(`"${version}" is not a version`)]);
  }
  expect(readState()).toEqual(UNCHANGED);
});

/** Creates a repository with this version and a breaking change. */
function createBreakingRepository(version: string) {
  const replaceVersion = (path: string) => FILES[path]?.replaceAll('"1.0.0"', `"${version}"`) ?? '';
  return createRepository({
    'CHANGELOG.md': CHANGELOG.replace('### Added', '### Breaking'),
    'package.json': replaceVersion('package.json'),
    'package-lock.json': replaceVersion('package-lock.json'),
  });
}

test('refuses a breaking change in a minor version', () => {
  const { release } = createBreakingRepository('1.0.0');
  const { status, stderr } = release('1.1.0', '--skip-checks');
  expect([status, stderr]).toEqual([1, expect.stringContaining('need version 2.0.0')]);
});

test.each([
  ['1.0.0', '2.0.0-rc.1'],
  ['2.0.0-rc.1', '2.0.0-rc.2'],
  ['2.0.0-rc.1', '2.0.0'],
])('accepts a breaking change after %s as %s', (currentVersion, version) => {
  const { release } = createBreakingRepository(currentVersion);
  expect(release(version, '--skip-checks')).toEqual({ status: 0, stderr: '' });
});

/** Returns a package.json with these scripts instead of checks that pass. */
function createPackage(scripts: Record<string, string>): string {
  const packageJson = JSON.parse(FILES['package.json'] ?? '');
  return JSON.stringify({ ...packageJson, scripts: { ...packageJson.scripts, ...scripts } });
}

test('refuses the release if a check fails', () => {
  const { release, readState } = createRepository({
    'package.json': createPackage({ lint: 'exit 1' }),
  });
  const { status, stderr } = release('1.1.0');
  expect([status, stderr]).toEqual([1, expect.stringContaining('`npm run lint` failed.')]);
  expect(readState()).toEqual(UNCHANGED);
});

test('runs every check, and refuses the release if they change the working tree', () => {
  const names = ['lint', 'test', 'types'];
  const scripts = Object.fromEntries(names.map((name) => [name, `touch after-${name}`]));
  const { release, readState } = createRepository({ 'package.json': createPackage(scripts) });
  const changes = names.map((name) => `?? after-${name}`).join('\n');
  expect(release('1.1.0').stderr).toContain(changes);
  expect(readState()).toEqual({ ...UNCHANGED, changes });
});

test.each([
  ['commit', 'pre-commit'],
  ['tag', 'reference-transaction'],
])('restores the working tree if the %s fails', (_step, hook) => {
  const { folder, release, readState } = createRepository();
  const path = join(folder, '.git/hooks', hook);
  // The hook refuses the commit, or the reference of the tag.
  const script =
    hook === 'pre-commit'
      ? 'exit 1'
      : 'while read -r _old _new name; do case "$name" in refs/tags/*) exit 1;; esac; done';
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  expect(release('1.1.0', '--skip-checks').status).toBe(1);
  expect(readState()).toEqual(UNCHANGED);
});

test('prints the usage if the arguments are invalid', () => {
  const { release, readState } = createRepository();
  for (const args of [[], ['1.1.0', '1.2.0'], ['1.1.0', '--force']]) {
    const { status, stderr } = release(...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining('Usage: npm run release')]);
  }
  expect(readState()).toEqual(UNCHANGED);
});
