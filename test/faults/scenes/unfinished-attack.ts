/** Sockets in processes of their own that send the beginning of something, and open again if they are cut. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A body over GraphQL or REST, a head, and a WebSocket that does not say whose it is. */
export const KINDS = ['graphql', 'rest', 'head', 'webSocket'] as const;
export type Kind = (typeof KINDS)[number];

export interface Attack {
  url: string;
  sockets: number;
  addresses: string[];
  kinds: Kind[];
  /** Sockets that it opens in a second at most, those that were cut again. */
  perSecond: number;
}

export interface Held {
  open: number;
  /** With those that were cut and came again. */
  opened: number;
  /** Came to no connection. */
  failed: number;
}

/** What one process holds with ease. */
const PROCESS_SOCKETS_MAX = 5_000;
/** More would not be sockets that are held, but a flood of connections. */
const OPENED_PER_SECOND = 1_000;

/** How long it takes to open all of them. */
export const openingMs = (sockets: number) => (sockets * 1_000) / OPENED_PER_SECOND;

export interface Running {
  /** The most that were open at a time, and how often one was opened. */
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
