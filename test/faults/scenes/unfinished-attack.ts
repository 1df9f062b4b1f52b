/** Opens sockets from separate processes, which send an incomplete request and reopen closed sockets. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * An incomplete body over GraphQL or REST, an incomplete head, and a WebSocket that does not authenticate.
 */
export const KINDS = ['graphql', 'rest', 'head', 'webSocket'] as const;
export type Kind = (typeof KINDS)[number];

export interface Attack {
  url: string;
  sockets: number;
  addresses: string[];
  kinds: Kind[];
  /** Maximum number of sockets that are opened per second, including reopened ones. */
  perSecond: number;
}

export interface Held {
  open: number;
  /** Number of opened sockets, including reopened ones. */
  opened: number;
  /** Number of sockets that could not connect. */
  failed: number;
}

/** Number of sockets that one process can hold. */
const PROCESS_SOCKETS_MAX = 5_000;
/** A higher rate would be a flood of connections and not an attack by held sockets. */
const OPENED_PER_SECOND = 1_000;

/** Returns the time to open all sockets. */
export const openingMs = (sockets: number) => (sockets * 1_000) / OPENED_PER_SECOND;

export interface Running {
  /** Returns the maximum of concurrently open sockets, and the numbers of opened and failed ones. */
  held(): { openMax: number; opened: number; failed: number };
  stop(): Promise<void>;
}

export function startAttack(attack: Omit<Attack, 'perSecond'>): Running {
  const processes = Math.ceil(attack.sockets / PROCESS_SOCKETS_MAX);
  const latest: Held[] = [];
  let openMax = 0;
  const children = Array.from({ length: processes }, (_, index) => {
    const part = { sockets: attack.sockets / processes, perSecond: OPENED_PER_SECOND / processes };
    const child = forkOne({ ...attack, ...part });
    child.on('message', (held: Held) => {
      latest[index] = held;
      openMax = Math.max(openMax, sum(latest, 'open'));
    });
    return child;
  });
  const stop = async () => {
    await Promise.all(children.map(end));
  };
  onTestFinished(stop);
  return {
    held: () => ({ openMax, opened: sum(latest, 'opened'), failed: sum(latest, 'failed') }),
    stop,
  };
}

function forkOne(attack: Attack): ChildProcess {
  const file = join(import.meta.dirname, 'unfinished-process.ts');
  return fork(file, [JSON.stringify(attack)], { execArgv: [] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function sum(all: Held[], fact: keyof Held): number {
  return all.reduce((total, held) => total + (held?.[fact] ?? 0), 0);
}
