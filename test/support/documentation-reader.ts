/**
 * Follows the documentation as a reader does: in a folder like a clone of the repository, with its own
 * terminals and free ports.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { endWithParent } from './end-with-parent.ts';
import { installProduction } from './production-install.ts';

const END_MS = 20_000;
const POLL_MS = 50;
/** Characters of a terminal's output in the message of a failed test. */
export const OUTPUT_SHOWN_MAX = 4_000;
const FAILURE_LINE = /^FAILED: .*/m;

/**
 * A failed program ends its terminal immediately, even from the background, so that no test waits for its
 * effect. The exit code 2 is a result: `gateway plan` has found changes.
 */
const PRELUDE = `
set -eo pipefail
program() {
  command "$@" || {
    local code=$?
    [ $code = 2 ] && return 2
    echo "FAILED: $* exited with $code" >&2
    kill $$ 2>/dev/null
    return 1
  }
}
npm() { program npm "$@"; }
node() { program node "$@"; }
`;

export interface Terminal {
  /** Includes the output of background programs. */
  output(): string;
  hasFailed(): boolean;
}

interface ProcessGroup {
  pid: number;
  stopWatching: () => void;
}

export class Reader implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gateway-reader-'));
  /** Texts of the documents, such as ports, and their replacements in this run. */
  readonly #replacements: Record<string, string>;
  readonly #groups: ProcessGroup[] = [];
  readonly #terminals: Terminal[] = [];

  constructor(replacements: Record<string, string>) {
    this.#replacements = replacements;
    installProduction(this.#folder);
  }

  /**
   * Runs commands in a new terminal. Programs in the background continue, and their output is appended. If a
   * command fails, throws the output of all terminals.
   */
  async run(commands: string): Promise<Terminal> {
    const shell = spawn('bash', ['-c', PRELUDE + this.#localize(commands)], {
      cwd: this.#folder,
      env: {
        PATH: createSystemPath(),
        HOME: process.env.HOME,
        npm_config_update_notifier: 'false',
      },
      // Starts a process group, which can be ended as a whole.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(shell, 'close');
    const pid = shell.pid as number;
    const stopWatching = endWithParent({ pid: -pid, signal: 'SIGTERM', patienceMs: END_MS });
    this.#groups.push({ pid, stopWatching });
    let text = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
    }
    const terminal = { output: () => text, hasFailed: () => FAILURE_LINE.test(text) };
    this.#terminals.push(terminal);
    const [code, signal] = await once(shell, 'exit');
    if (code === 0) return terminal;
    await this.end();
    await closed;
    throw new Error(`Exited with ${code ?? signal}:\n${commands}\n${this.#formatOutputs()}`);
  }

  save(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), this.#localize(text));
  }

  read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  /** Ends all programs in the terminals. */
  async end(): Promise<void> {
    await Promise.all(this.#groups.splice(0).map(endGroup));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Replaces everything in one pass, because a free port such as 44010 contains another port's text. */
  #localize(text: string): string {
    const originals = new RegExp(Object.keys(this.#replacements).map(RegExp.escape).join('|'), 'g');
    return text.replace(originals, (original) => this.#replacements[original] ?? original);
  }

  #formatOutputs(): string {
    return this.#terminals
      .map(({ output }, index) => `Terminal ${index + 1}:\n${output().slice(-OUTPUT_SHOWN_MAX)}`)
      .join('\n');
  }
}

/** Returns the PATH without folders of packages, so that commands run the system's Node and npm. */
export function createSystemPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}

async function endGroup({ pid, stopWatching }: ProcessGroup): Promise<void> {
  const endMs = Date.now() + END_MS;
  sendSignal(pid, 'SIGTERM');
  while (sendSignal(pid, 0) && Date.now() < endMs) await wait(POLL_MS);
  sendSignal(pid, 'SIGKILL');
  stopWatching();
}

function sendSignal(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
