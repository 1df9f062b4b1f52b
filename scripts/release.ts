/**
 * Releases the code of the working tree: `npm run release -- <version>`. It stamps the version, moves the
 * section Unreleased of the changelog to it, stores the schema for later comparisons, commits and tags. It checks
 * whether the release is permitted before it writes anything, and a failure afterwards leaves the tree as it was.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import semver from 'semver';
import { answerHelp } from '../src/commands/usage.ts';
import { findBreaking, findUnreleased, stampVersion } from './changelog.ts';
import { formatReleasedSchema, RELEASED_SCHEMA } from './released-schema.ts';

const USAGE = `Usage: npm run release -- <version> [--skip-checks]

  <version>      a version by semver.org that is greater than the current one, for example 1.2.0
  --skip-checks  do not run types, lint and tests`;

const CHECKS = [['run', 'types'], ['run', 'lint'], ['test']];
const CHANGELOG = 'CHANGELOG.md';
const RELEASED_FILES = ['package.json', 'package-lock.json', CHANGELOG, RELEASED_SCHEMA];

const readText = (path: string) => readFileSync(path, 'utf8');
const runGit = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** Returns the reasons why the version can't be released. Empty if it can. */
function listRefusals(version: string): string[] {
  const missingFiles = [...RELEASED_FILES, 'schema.graphql'].filter((path) => !existsSync(path));
  if (missingFiles.length > 0) return missingFiles.map((path) => `${path} does not exist here.`);
  const currentVersion: string = JSON.parse(readText('package.json')).version;
  const refusals = [...listVersionRefusals(version, currentVersion), ...listGitRefusals(version)];
  if (!findUnreleased(readText(CHANGELOG))?.includes('- ')) {
    refusals.push(`${CHANGELOG} has no entry under "Unreleased".`);
  }
  return refusals;
}

function listVersionRefusals(version: string, currentVersion: string): string[] {
  if (semver.valid(version) !== version) {
    return [`"${version}" is not a version by semver.org, for example 1.2.0 or 2.0.0-rc.1.`];
  }
  if (!semver.gt(version, currentVersion)) {
    return [`${version} is not greater than ${currentVersion}.`];
  }
  const nextMajor = semver.inc(currentVersion, 'major');
  const isBreaking =
    findBreaking(readText(CHANGELOG)) !== '' && semver.prerelease(currentVersion) === null;
  if (!isBreaking || semver.gte(version, `${nextMajor}-0`)) return [];
  return [`${CHANGELOG} lists breaking changes, which need version ${nextMajor} or greater.`];
}

function listGitRefusals(version: string): string[] {
  const refusals: string[] = [];
  const branch = runGit('branch', '--show-current');
  if (branch !== 'main') refusals.push(`The branch is ${branch || 'detached'}, not main.`);
  const changes = runGit('status', '--porcelain');
  if (changes) refusals.push(`The tree has changes that are not committed:\n${changes}`);
  if (runGit('tag', '--list', `v${version}`)) refusals.push(`The tag v${version} exists already.`);
  return refusals;
}

/** Runs types, lint and tests. Returns the command that failed. Undefined if none did. */
function findFailedCheck(): string | undefined {
  const args = CHECKS.find((check) => spawnSync('npm', check, { stdio: 'inherit' }).status !== 0);
  return args && `npm ${args.join(' ')}`;
}

function release(version: string): void {
  const start = runGit('rev-parse', 'HEAD');
  const date = new Date().toISOString().slice(0, 10);
  const changelog = stampVersion(readText(CHANGELOG), version, date);
  const schema = formatReleasedSchema(readText('schema.graphql'));
  try {
    execFileSync('npm', ['version', version, '--no-git-tag-version', '--ignore-scripts']);
    writeFileSync(CHANGELOG, changelog);
    writeFileSync(RELEASED_SCHEMA, schema);
    runGit('add', '--', ...RELEASED_FILES);
    runGit('commit', '--quiet', '--message', `Release ${version}`);
    runGit('tag', '--annotate', `v${version}`, '--message', `Release ${version}`);
  } catch (error) {
    runGit('reset', '--quiet', '--soft', start);
    runGit('restore', '--staged', '--worktree', '--', ...RELEASED_FILES);
    throw error;
  }
}

function parseArguments(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { 'skip-checks': { type: 'boolean', default: false } },
    });
    const [version, ...others] = positionals;
    return version && others.length === 0
      ? { version, skipsChecks: values['skip-checks'] }
      : undefined;
  } catch {
    return undefined;
  }
}

function refuse(reasons: string[]): never {
  console.error(`Nothing was released.\n${reasons.map((reason) => `- ${reason}`).join('\n')}`);
  process.exit(1);
}

answerHelp(USAGE);
const options = parseArguments(process.argv.slice(2));
if (!options) {
  console.error(USAGE);
  process.exit(2);
}
const { version, skipsChecks } = options;
const refusals = listRefusals(version);
if (refusals.length > 0) refuse(refusals);
if (!skipsChecks) {
  const failedCheck = findFailedCheck();
  if (failedCheck) refuse([`\`${failedCheck}\` failed.`]);
  // The tree may have changed while the checks ran.
  const newRefusals = listRefusals(version);
  if (newRefusals.length > 0) refuse(newRefusals);
}
try {
  release(version);
} catch (error) {
  refuse([error instanceof Error ? error.message : String(error)]);
}
console.log(`Released ${version}. Publish it with \`git push --follow-tags origin main\`.`);
