/**
 * Compares servers that differ by a few per cent. They take turns of a fraction of a second, so that what slows the
 * machine slows all of them alike; the processor's time is counted to the nanosecond.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type HttpSocket, openHttpSocket } from './http-socket.ts';
import { quantile } from './median.ts';
import type { Server } from './processes/server.ts';

const SLICE_MS = 150;
/** Each: not counted. */
const WARM_UP_SLICES = 20;

/** Servers of one name are the same one, started several times: two of them differ by some per cent for all their lives. */
export interface Compared {
  name: string;
  /** Of its middle server. */
  cpuMsPerRequest: number;
  /** To the first name: of its middle server, the median of all turns. */
  ratio: number;
  /** Of each of its servers. */
  ratios: number[];
}

export interface Load {
  name: string;
  server: Server;
  requests: Buffer[];
}

interface Driven {
  name: string;
  pid: number;
  sockets: HttpSocket[];
  requests: Buffer[];
  next: number;
  /** Of each turn. */
  cpuMs: number[];
}

export async function driveInSlices(
  loads: Load[],
  { sockets, seconds }: { sockets: number; seconds: number },
): Promise<Compared[]> {
  const driven = await Promise.all(loads.map((load) => open(load, sockets)));
  for (let turn = 0; turn < WARM_UP_SLICES; turn += 1) await takeTurns(driven, turn);
  for (const one of driven) one.cpuMs = [];
  const endMs = performance.now() + seconds * 1_000 * loads.length;
  for (let turn = 0; performance.now() < endMs; turn += 1) await takeTurns(driven, turn);
  for (const one of driven) for (const socket of one.sockets) socket.close();
  const byName = [...Map.groupBy(driven, ({ name }) => name)];
  const [first] = byName;
  const base = first ? middleOfTurns(first[1]) : [];
  return byName.map(([name, servers]) => {
    const ratios = servers.map(({ cpuMs }) => medianOf(cpuMs.map((ms, turn) => ms / base[turn]!)));
    const cpuMsPerRequest = medianOf(servers.map(({ cpuMs }) => medianOf(cpuMs)));
    return { name, cpuMsPerRequest, ratio: medianOf(ratios), ratios };
  });
}

/** What each turn took the middle one of the servers. */
function middleOfTurns(servers: Driven[]): number[] {
  const turns = servers[0]?.cpuMs ?? [];
  return turns.map((_, turn) => medianOf(servers.map(({ cpuMs }) => cpuMs[turn]!)));
}

async function open({ name, server, requests }: Load, count: number) {
  const { hostname, port } = new URL(server.url);
  const sockets = await Promise.all(
    Array.from({ length: count }, () => openHttpSocket(hostname, Number(port))),
  );
  const driven: Driven = { name, pid: server.pid, sockets, requests, next: 0, cpuMs: [] };
  return driven;
}

/** Turned and rotated, so that no server always follows the same one. */
async function takeTurns(driven: Driven[], turn: number): Promise<void> {
  const order = driven.map((_, index) => driven[(index + turn) % driven.length]!);
  if (turn % 2 === 1) order.reverse();
  for (const one of order) await takeTurn(one);
}

async function takeTurn(one: Driven): Promise<void> {
  const { requests } = one;
  const beganMs = threadsCpuMs(one.pid);
  const endMs = performance.now() + SLICE_MS;
  let count = 0;
  await Promise.all(
    one.sockets.map(async (socket) => {
      while (performance.now() < endMs) {
        await socket.ask(requests[one.next++ % requests.length]!);
        count += 1;
      }
    }),
  );
  one.cpuMs.push((threadsCpuMs(one.pid) - beganMs) / count);
}

/** On a processor so far, of all threads. A thread may end in between. */
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

function medianOf(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
