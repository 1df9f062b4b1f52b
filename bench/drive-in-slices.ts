/**
 * Compares servers that differ by a few per cent. They alternate in slices of a fraction of a second, so that
 * other load on the machine affects all of them equally. CPU time is counted in nanoseconds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Flags } from './flags.ts';
import { type HttpSocket, openHttpSocket } from './http-socket.ts';
import { quantile } from './median.ts';
import type { Server } from './processes/server.ts';

const SLICE_MS = 150;

export interface Load {
  server: Server;
  requests: Buffer[];
}

/** The CPU time of a request, in each turn of a load. */
export type Turns = readonly number[];

export interface Compared {
  name: string;
  cpuMsPerRequest: number;
  /** Ratio to the first server: the median of all turns. */
  ratio: number;
}

interface Driven {
  pid: number;
  open(): Promise<HttpSocket>;
  /** Opened at its first turn, because a server closes a connection that is idle for some seconds. */
  sockets: (HttpSocket | null)[];
  requests: Buffer[];
  next: number;
  /** The server's CPU time per request in each turn. */
  cpuMs: number[];
}

/** The turns of each load, in order. */
export async function driveInSlices(
  loads: Load[],
  { sockets, seconds, sizes }: Pick<Flags, 'sockets' | 'seconds' | 'sizes'>,
): Promise<Turns[]> {
  const driven = loads.map((load) => drivenBy(load, sockets));
  for (let turn = 0; turn < sizes.warmUpSlices; turn += 1) await takeTurns(driven, turn);
  for (const one of driven) one.cpuMs = [];
  const endMs = performance.now() + seconds * 1_000 * loads.length;
  for (let turn = 0; performance.now() < endMs; turn += 1) await takeTurns(driven, turn);
  for (const one of driven) for (const socket of one.sockets) socket?.close();
  return driven.map(({ cpuMs }) => cpuMs);
}

/** Ratios of each server to the first. */
export async function compareInSlices(
  loads: (Load & { name: string })[],
  flags: Pick<Flags, 'sockets' | 'seconds' | 'sizes'>,
): Promise<Compared[]> {
  const all = await driveInSlices(loads, flags);
  return loads.map(({ name }, index) => {
    const turns = all[index]!;
    return { name, cpuMsPerRequest: medianOf(turns), ratio: ratioOf(turns, all[0]!) };
  });
}

export function ratioOf(turns: Turns, base: Turns): number {
  return medianOf(turns.map((ms, turn) => ms / base[turn]!));
}

/** Median CPU time of some servers in each turn. */
export function middleOf(servers: Turns[]): Turns {
  return (servers[0] ?? []).map((_, turn) => medianOf(servers.map((turns) => turns[turn]!)));
}

function drivenBy({ server, requests }: Load, count: number): Driven {
  const { hostname, port } = new URL(server.url);
  const open = () => openHttpSocket(hostname, Number(port));
  const sockets = Array.from({ length: count }, () => null);
  return { pid: server.pid, open, sockets, requests, next: 0, cpuMs: [] };
}

/** Reversed and rotated, so that no server always follows the same one. */
async function takeTurns(driven: Driven[], turn: number): Promise<void> {
  const order = driven.map((_, index) => driven[(index + turn) % driven.length]!);
  if (turn % 2 === 1) order.reverse();
  for (const one of order) await takeTurn(one);
}

async function takeTurn(one: Driven): Promise<void> {
  const { requests } = one;
  const sockets = await Promise.all(
    one.sockets.map((socket) => (socket?.isOpen ? socket : one.open())),
  );
  one.sockets = sockets;
  const beganMs = threadsCpuMs(one.pid);
  const endMs = performance.now() + SLICE_MS;
  let count = 0;
  await Promise.all(
    sockets.map(async (socket) => {
      while (performance.now() < endMs) {
        await socket.ask(requests[one.next++ % requests.length]!);
        count += 1;
      }
    }),
  );
  one.cpuMs.push((threadsCpuMs(one.pid) - beganMs) / count);
}

/** CPU time so far, of all threads. A thread may end during the measurement. */
function threadsCpuMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    try {
      const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      return sum + Number(ns) / 1_000_000;
    } catch {
      return sum;
    }
  }, 0);
}

export function medianOf(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
