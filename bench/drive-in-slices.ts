/**
 * Compares servers that differ by a few percent. They alternate in slices of a fraction of a second, so that
 * other load on the machine affects all of them equally. CPU time is read in nanoseconds and reported in milliseconds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Flags } from './flags.ts';
import { type HttpSocket, openHttpSocket } from './http-socket.ts';
import type { Server } from './processes/server.ts';
import { computeMedian } from './statistics.ts';

export interface Load {
  server: Server;
  requests: Buffer[];
}

/** The CPU time of a request, in each turn of a load. */
export type CpuMsByTurn = readonly number[];

export interface Comparison {
  name: string;
  cpuMsPerRequest: number;
  /** The ratio to the first server, as the median of all turns. */
  ratio: number;
}

interface DrivenServer {
  pid: number;
  sockets: HttpSocket[];
  requests: Buffer[];
  nextRequest: number;
  /** The server's CPU time per request in each turn. */
  cpuMsByTurn: number[];
}

/** Returns the turns of each load, in the order of the loads. */
export async function driveInSlices(
  loads: Load[],
  { sockets, seconds, sizes }: Pick<Flags, 'sockets' | 'seconds' | 'sizes'>,
): Promise<CpuMsByTurn[]> {
  const servers = await Promise.all(loads.map((load) => createDrivenServer(load, sockets)));
  const { sliceMs, warmUpSlices } = sizes;
  for (let turn = 0; turn < warmUpSlices; turn += 1) await takeTurns(servers, turn, sliceMs);
  for (const server of servers) server.cpuMsByTurn = [];
  const endMs = performance.now() + seconds * 1_000 * loads.length;
  for (let turn = 0; performance.now() < endMs; turn += 1) await takeTurns(servers, turn, sliceMs);
  for (const { sockets } of servers) for (const socket of sockets) socket.close();
  return servers.map(({ cpuMsByTurn }) => cpuMsByTurn);
}

/** Compares each server with the first. */
export async function compareInSlices(
  loads: (Load & { name: string })[],
  flags: Pick<Flags, 'sockets' | 'seconds' | 'sizes'>,
): Promise<Comparison[]> {
  const turnsByLoad = await driveInSlices(loads, flags);
  return loads.map(({ name }, index) => {
    const turns = turnsByLoad[index]!;
    return {
      name,
      cpuMsPerRequest: computeMedian(turns),
      ratio: computeRatio(turns, turnsByLoad[0]!),
    };
  });
}

export function computeRatio(turns: CpuMsByTurn, base: CpuMsByTurn): number {
  return computeMedian(turns.map((ms, turn) => ms / base[turn]!));
}

/** Returns the median CPU time of the servers in each turn. */
export function computeMedianTurns(servers: CpuMsByTurn[]): CpuMsByTurn {
  return (servers[0] ?? []).map((_, turn) => computeMedian(servers.map((turns) => turns[turn]!)));
}

async function createDrivenServer(
  { server, requests }: Load,
  count: number,
): Promise<DrivenServer> {
  const { hostname, port } = new URL(server.url);
  const openSocket = () => openHttpSocket(hostname, Number(port));
  const sockets = await Promise.all(Array.from({ length: count }, openSocket));
  return { pid: server.pid, sockets, requests, nextRequest: 0, cpuMsByTurn: [] };
}

/** Gives each server a turn. The order is rotated and reversed, so that no server always follows the same one. */
async function takeTurns(servers: DrivenServer[], turn: number, sliceMs: number): Promise<void> {
  const order = servers.map((_, index) => servers[(index + turn) % servers.length]!);
  if (turn % 2 === 1) order.reverse();
  for (const server of order) await takeTurn(server, sliceMs);
}

async function takeTurn(server: DrivenServer, sliceMs: number): Promise<void> {
  const { requests, sockets } = server;
  const startCpuMs = readThreadsCpuMs(server.pid);
  const endMs = performance.now() + sliceMs;
  let count = 0;
  await Promise.all(
    sockets.map(async (socket) => {
      while (performance.now() < endMs) {
        await socket.send(requests[server.nextRequest++ % requests.length]!);
        count += 1;
      }
    }),
  );
  server.cpuMsByTurn.push((readThreadsCpuMs(server.pid) - startCpuMs) / count);
}

/** Returns the CPU time of all threads so far. Skips threads that end during the measurement. */
function readThreadsCpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [running] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      nanoseconds += Number(running);
    } catch {}
  }
  return nanoseconds / 1_000_000;
}
