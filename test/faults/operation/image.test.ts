/**
 * Runs the commands of the Dockerfile without a container engine, in a bubblewrap sandbox with an otherwise empty
 * root. Then runs the image's server as a user that can write only to /data and /tmp.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join, matchesGlob, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../support/documents.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { IS_SHORT } from '../fixtures/settings.ts';

const MIB = 2 ** 20;
/** Maximum size of /app, without Node. */
const SIZE_MAX_MIB = 300;
const USER_ID = 1000;
const START_POLLING = { timeout: 180_000, interval: 200 };

const isRoot = process.getuid?.() === 0;
const hasSandbox = isRoot && spawnSync('bwrap', ['--version']).status === 0;
if (!hasSandbox)
  console.warn('The test of the image is skipped: it needs bwrap (bubblewrap) and root.');

interface Instruction {
  keyword: string;
  rest: string;
}

function parseInstructions(text: string): Instruction[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  return [...lines.matchAll(/^([A-Z]+) +(.*)$/gm)].map(([, keyword = '', rest = '']) => ({
    keyword,
    rest,
  }));
}

/** The root folder of an image stage. Its base is the system of this machine, with Node 24 first in the path. */
class Root {
  readonly folder = mkdtempSync(join(tmpdir(), 'gateway-image-'));
  env: Record<string, string> = {};
  user = 0;
  workdir = '/';
  command: string[] = [];
  check: string[] = [];

  constructor() {
    chmodSync(this.folder, 0o755);
    const node = join(this.folder, 'usr-local-bin');
    mkdirSync(node);
    copyFileSync(process.execPath, join(node, 'node'));
    for (const name of ['app', 'data']) mkdirSync(join(this.folder, name));
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Returns the arguments of bwrap. Only build commands may write. */
  createSandboxArguments(isWritable: boolean): string[] {
    const inRoot = (name: string) => join(this.folder, name);
    const system = ['/usr', '/etc'].flatMap((path) => ['--ro-bind', path, path]);
    const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => [
      '--symlink',
      `usr/${name}`,
      `/${name}`,
    ]);
    return [
      ...system,
      ...links,
      ...['--ro-bind', inRoot('usr-local-bin'), '/usr/local/bin'],
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...[isWritable ? '--bind' : '--ro-bind', inRoot('app'), '/app'],
      ...['--bind', inRoot('data'), '/data'],
      ...(isWritable ? listPackageMounts() : ['--unshare-pid', '--remount-ro', '/']),
      ...['--die-with-parent', '--chdir', this.workdir],
    ];
  }

  run(command: string): void {
    const args = [...this.createSandboxArguments(true), 'sh', '-euc', command];
    const env: NodeJS.ProcessEnv = { ...process.env, ...this.env };
    // Removes the settings of Node that belong to this test run.
    for (const name of ['NODE_ENV', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE']) delete env[name];
    env.PATH = '/usr/local/bin:/usr/bin:/bin';
    const { status, stderr } = spawnSync('bwrap', args, { env, encoding: 'utf8' });
    expect({ command, status, stderr: status === 0 ? '' : stderr }).toEqual({
      command,
      status: 0,
      stderr: '',
    });
  }

  /** Starts a command as the image's user, who cannot write to the root. */
  start(command: string[], env: Record<string, string> = {}) {
    const wholeEnv = { ...this.env, ...env, PATH: '/usr/local/bin:/usr/bin:/bin' };
    const settings = Object.entries(wholeEnv).flatMap(([name, value]) => ['--setenv', name, value]);
    const user = ['--reuid', `${this.user}`, '--regid', `${this.user}`, '--clear-groups'];
    const args = [
      ...this.createSandboxArguments(false),
      '--unshare-user',
      '--clearenv',
      ...settings,
      ...command,
    ];
    return spawn('setpriv', [...user, 'bwrap', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

/** Returns arguments of bwrap that give builds the npm configuration and cache of this machine. */
function listPackageMounts(): string[] {
  const home = homedir();
  const cache = join(home, '.npm');
  mkdirSync(cache, { recursive: true });
  return ['--ro-bind', home, home, '--bind', cache, cache];
}

const ignoredPatterns = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
const isInContext = (path: string) =>
  !ignoredPatterns.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`));

function copyFiles(root: Root, from: string, words: string[]): void {
  const sources = words.slice(0, -1);
  const target = words.at(-1) ?? '';
  const isContext = from === ROOT;
  for (const source of sources) {
    const path = join(from, source);
    const isFolder = statSync(path).isDirectory();
    const name = isFolder || !target.endsWith('/') ? '' : basename(source);
    cpSync(path, join(root.folder, root.workdir, target, name), {
      recursive: true,
      verbatimSymlinks: true,
      // Without a filter, Node copies a folder several times as fast.
      ...(isContext && { filter: (file) => isInContext(relative(from, file)) }),
    });
  }
}

/**
 * Runs a build command. The short form does not install packages, which takes a minute of CPU time: CI has just
 * installed them by the same lock file, so it copies them and runs the script that follows an installation.
 */
function runBuildCommand(root: Root, command: string): void {
  if (IS_SHORT && command.startsWith(INSTALL_SCRIPT)) {
    execFileSync('cp', ['-r', join(ROOT, 'node_modules'), join(root.folder, root.workdir)]);
    const script = join(root.folder, root.workdir, INSTALL_SCRIPT);
    writeFileSync(
      script,
      readFileSync(script, 'utf8').replace(/^npm ci .*$/m, 'npm run postinstall'),
    );
  }
  root.run(command.replace('mkdir /data', 'mkdir -p /data'));
}

const INSTALL_SCRIPT = 'scripts/install-production.sh';

/** Builds all stages. Returns the root of the last stage. */
function buildImage(): Root {
  const stages = new Map<string, Root>();
  let root = new Root();
  const instructions = parseInstructions(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  for (const { keyword, rest } of instructions) {
    const words = rest.split(/\s+/);
    if (keyword === 'FROM') {
      root = new Root();
      if (words[1] === 'AS') stages.set(words[2] ?? '', root);
    } else if (keyword === 'WORKDIR') root.workdir = rest;
    else if (keyword === 'ENV') {
      Object.assign(root.env, Object.fromEntries(words.map((pair) => pair.split('='))));
    } else if (keyword === 'COPY') {
      const stage = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
      const from = stage ? (stages.get(stage)?.folder ?? '') : ROOT;
      copyFiles(root, from, stage ? words.slice(1) : words);
    } else if (keyword === 'RUN') runBuildCommand(root, rest);
    else if (keyword === 'USER') root.user = Number(rest.split(':')[0]);
    else if (keyword === 'HEALTHCHECK') root.check = JSON.parse(rest.slice(rest.indexOf('[')));
    else if (keyword === 'CMD') root.command = JSON.parse(rest);
  }
  return root;
}

function measureMebibytes(folder: string): number {
  const files = globSync('**/*', { cwd: folder }).map((path) => lstatSync(join(folder, path)));
  return Math.round(files.reduce((sum, { blocks }) => sum + blocks * 512, 0) / MIB);
}

async function waitForExitCode(child: ReturnType<Root['start']>): Promise<number | null> {
  const [code] = await once(child, 'exit');
  return code;
}

test.skipIf(!hasSandbox)(
  'builds a small image, which runs as a user without write access',
  async () => {
    const root = buildImage();
    const app = join(root.folder, 'app');
    const sizeMib = measureMebibytes(app);
    console.log(`The image has ${sizeMib} MiB without Node and the system.`);
    expect(sizeMib).toBeLessThan(SIZE_MAX_MIB);
    for (const name of ['vitest', 'prisma', 'typescript', 'node', 'vite', 'playwright-core']) {
      expect(existsSync(join(app, 'node_modules', name))).toBe(false);
    }
    expect(root.user).toBe(USER_ID);
    chownSync(join(root.folder, 'data'), USER_ID, USER_ID);
    expect(await waitForExitCode(root.start(['touch', '/app/written']))).not.toBe(0);
    expect(await waitForExitCode(root.start(['touch', '/written']))).not.toBe(0);

    const port = await findFreePort();
    const env = { PORT: String(port) };
    expect(await waitForExitCode(root.start(root.check, env))).toBe(1);
    const server = root.start(root.command, env);
    onTestFinished(() => void server.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    const fetchReadiness = async () => (await fetch(`${url}/readyz`).catch(() => null))?.status;
    await expect.poll(fetchReadiness, START_POLLING).toBe(200);
    expect(await waitForExitCode(root.start(root.check, env))).toBe(0);
    const page = await fetch(`${url}/console`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<div id="root">');
    const documentation = await fetch(`${url}/docs/quickstart`);
    expect(documentation.status).toBe(200);
    expect(await documentation.text()).toContain('<h1 id="quickstart"');
    const { apiKey } = JSON.parse(readFileSync(join(root.folder, 'data', 'demo.json'), 'utf8'));
    const client = createClient(fetchFrom(url), { 'x-api-key': apiKey });
    const { project } = await client.query('query Demo { project(idOrName: "demo") { id } }');
    expect(project.id).toMatch(/^prj_/);
    const settingsCheck = root.start(['node', 'src/commands/check-settings.ts', '--check'], env);
    expect(await waitForExitCode(settingsCheck)).toBe(0);
  },
);
