/** A reader of the documents: a folder like a clone of the repository, terminals in it, and ports that are free. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installProduction } from './production-install.ts';
import { tie } from './tied.ts';

const END_MS = 20_000;
const POLL_MS = 50;
/** Of what a terminal shows, where it is told why a test fails. */
export const SHOWN_MAX = 4_000;
const FAILED = /^FAILED: .*/m;

/** A program that fails ends its terminal at once, from the background too: nobody waits for what can't come. */
const PRELUDE = `
set -eo pipefail
program() {
  command "$@" || {
    echo "FAILED: $* ended with $?" >&2
    kill $$ 2>/dev/null
    return 1
  }
}
npm() { program npm "$@"; }
node() { program node "$@"; }
`;

export interface Terminal {
  /** Also of what runs in the background. */
  output(): string;
  hasFailed(): boolean;
}

interface Group {
  pid: number;
  untie: () => void;
}

export class Reader implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gateway-reader-'));
  /** What the documents say, and what stands in its place here. */
  readonly #replacements: Record<string, string>;
  readonly #groups: Group[] = [];
  readonly #terminals: Terminal[] = [];

  constructor(replacements: Record<string, string>) {
    this.#replacements = replacements;
    installProduction(this.#folder);
  }

  /**
   * Runs commands in a terminal of their own. What they leave in the background goes on, and its output is
   * added to theirs. Throws what all terminals show where a command fails.
   */
  async run(commands: string): Promise<Terminal> {
    const shell = spawn('bash', ['-c', PRELUDE + this.#here(commands)], {
      cwd: this.#folder,
      env: { PATH: systemPath(), HOME: process.env.HOME, npm_config_update_notifier: 'false' },
      // A process group, which can be ended as a whole.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(shell, 'close');
    const pid = shell.pid as number;
    const untie = tie({ pid: -pid, signal: 'SIGTERM', patienceMs: END_MS });
    this.#groups.push({ pid, untie });
    let text = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
    }
    const terminal = { output: () => text, hasFailed: () => FAILED.test(text) };
    this.#terminals.push(terminal);
    const [code, signal] = await once(shell, 'exit');
    if (code === 0) return terminal;
    await this.end();
    await closed;
    throw new Error(`Ended with ${code ?? signal}:\n${commands}\n${this.#shown()}`);
  }

  save(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), this.#here(text));
  }

  read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  /** All that runs in the terminals. */
  async end(): Promise<void> {
    await Promise.all(this.#groups.splice(0).map(endGroup));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #here(text: string): string {
    return Object.entries(this.#replacements).reduce(
      (so, [theirs, ours]) => so.replaceAll(theirs, ours),
      text,
    );
  }

  #shown(): string {
    return this.#terminals
      .map(({ output }, at) => `Terminal ${at + 1}:\n${output().slice(-SHOWN_MAX)}`)
      .join('\n');
  }
}

/** The system's Node and npm, as in a terminal: not those of the run that the test is a part of. */
function systemPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}

async function endGroup({ pid, untie }: Group): Promise<void> {
  const endMs = Date.now() + END_MS;
  isSent(pid, 'SIGTERM');
  while (isSent(pid, 0) && Date.now() < endMs) await wait(POLL_MS);
  isSent(pid, 'SIGKILL');
  untie();
}

function isSent(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
