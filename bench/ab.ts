import { filledDatabase, usingClient } from './database.ts';
import { measureWorkload } from './parts/requests.ts';
import { GATEWAY_ENV, startPeer } from './peers.ts';
import { startPostgres } from './postgres.ts';
import { freePort } from './processes/port.ts';
import { startServer } from './processes/server.ts';
import { nodeVariables } from './workloads.ts';
import { DOCUMENTS } from './workloads.ts';
import { readFlags } from './flags.ts';

const flags = readFlags(process.argv.slice(2));
await using server = await startPostgres('/tmp/front-bench');
const filled = await filledDatabase(server, { operations: 50_000, connections: 10_000, events: 5_000 }, 1);
const gateway = async (tree: string) => ({
  name: 'gateway' as const,
  documents: DOCUMENTS,
  headers: { 'x-api-key': filled.apiKey },
  server: await startServer({ script: `../../../${tree}/src/main.ts`, port: await freePort(), readyPath: '/readyz', profile: process.env.PROF ? process.env.PROF + tree.slice(4) : undefined,
    env: { ...GATEWAY_ENV, DATABASE_URL: filled.url, ROLES: 'api' } }),
  [Symbol.asyncDispose]: async () => {},
});
const limit = await startPeer('limit', filled);
const base = await gateway('tmp/front-tree');
const now = await gateway(process.env.NEW ?? 'tmp/front-new');
const { text, values } = nodeVariables(1);
const nodes = await usingClient(filled.url, async (client: any) => (await client.query(text, values)).rows);
const med = (xs: number[]) => xs.toSorted((a, b) => a - b)[xs.length >> 1]!;
for (const workload of flags.workloads ?? (['W0', 'W1', 'W2', 'W3', 'W4'] as const)) {
  const [l, b, n] = await measureWorkload([limit, base, now] as any, workload, { nodes, flags: { ...flags, sockets: 24 } as any });
  const cpu = (r: any) => r.rounds.map((x: any) => x.cpuMsPerRequest);
  const rps = (r: any) => r.rounds.map((x: any) => x.requestsPerSecond);
  const f = (x: number) => x.toFixed(3);
  console.log(workload, 'cpu limit', f(med(cpu(l))), 'base', f(med(cpu(b))), 'new', f(med(cpu(n))),
    'pairwise cpu new/base', f(med(cpu(n).map((x: number, i: number) => x / cpu(b)[i]))),
    'rps ratio base', f(med(rps(b).map((x: number, i: number) => x / rps(l)[i]))), 'new', f(med(rps(n).map((x: number, i: number) => x / rps(l)[i]))),
    'pairwise rps new/base', f(med(rps(n).map((x: number, i: number) => x / rps(b)[i]))), 'n', Math.round(rps(b).reduce((x: number, y: number) => x + y, 0) * (flags.seconds + 0.5)), Math.round(rps(n).reduce((x: number, y: number) => x + y, 0) * (flags.seconds + 0.5)), 'min cpu', f(Math.min(...cpu(b))), f(Math.min(...cpu(n))));
}
for (const peer of [base, now]) await peer.server[Symbol.asyncDispose]();
await limit[Symbol.asyncDispose]();
