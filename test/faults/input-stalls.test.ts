/** How long one request with the largest permitted input holds up all others of the process: each kind of input in turn. */
import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { openSocket } from '../support/socket.ts';
import { prepareEmbedded } from './scenes/embedded/embedded-gateway.ts';
import { type Gateway, startGateway } from './scenes/gateway.ts';
import type { OwnTenant } from './scenes/own-server.ts';

/** What is aimed at; the report names the inputs that take longer. */
const GOAL_MS = 50;
/** The process would look dead to its balancer. */
const STALL_MS_MAX = 500;
/** The shortest of several stalls counts: the machine's other work only adds to them. So does time in which it runs nothing of the process. */
const TRIES = 3;

const BODY_BYTES = 1024 * 1024;
const DOCUMENT_BYTES = 64 * 1024;
const MANIFEST_BYTES = 128 * 1024;
const HEAD_BYTES = 15 * 1024;
const FRAME_BYTES = 2_000;

/** So many times the text, as far as it fits. */
const fill = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length));
const numbered = (part: (at: number) => string, bytes: number) => {
  const count = Math.floor(bytes / part(100_000).length);
  return Array.from({ length: count }, (_, at) => part(at)).join('');
};
const nested = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);

type Ask = (path: string, init?: RequestInit) => Promise<number>;

function askAt({ url }: Gateway, { apiKey }: OwnTenant): Ask {
  return async (path, init) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': apiKey, ...init?.headers };
    const response = await fetch(url + path, { ...init, headers });
    await response.arrayBuffer();
    return response.status;
  };
}

const WRITE = `mutation ($input: WriteRecordsInput!) { writeRecords(input: $input) { operation { id } } }`;
const REVISE = `mutation ($input: CreateRevisionInput!) { createRevision(input: $input) { revision { id } } }`;

/** JSON bodies at their limit: many members, many items, long texts, and levels. */
const BODIES: [string, string][] = [
  ['many members', `{${numbered((at) => `"member${at}":1,`, BODY_BYTES - FRAME_BYTES)}"last":1}`],
  ['many items', `[${fill('{"a":1},', BODY_BYTES - FRAME_BYTES)}{}]`],
  ['one text', JSON.stringify(fill('\u00e9"', (BODY_BYTES - FRAME_BYTES) / 2))],
  ['many levels', nested((BODY_BYTES - FRAME_BYTES) / 2)],
];

const MANIFESTS: [string, string][] = [
  ['many keys', numbered((at) => `k${at}: \n`, MANIFEST_BYTES - FRAME_BYTES)],
  ['many maps', `a: [${fill('{b: c},', MANIFEST_BYTES - FRAME_BYTES)}]`],
  ['many levels', fill(`- ${nested(30)}\n`, MANIFEST_BYTES - FRAME_BYTES)],
  ['aliases', `a: &a [${fill('1,', 60_000)}]\nb: [${fill('*a,', 297)}]`],
];

const DOCUMENTS: [string, string][] = [
  ['one text', `{ project(idOrName: "${fill('x', DOCUMENT_BYTES - FRAME_BYTES)}") { id } }`],
  ['comments', `${fill('#\n', DOCUMENT_BYTES - FRAME_BYTES)}{ viewer { kind } }`],
  ['many tokens', `{ viewer { kind } ${fill('__typename ', 20_000)}}`],
  ['many levels', `{ node(id: ${nested(900)}) { id } }`],
  ['introspection', getIntrospectionQuery()],
];

interface Input {
  name: string;
  send(ask: Ask, gateway: Gateway): Promise<number>;
}

function inputsOf({ projectId, apiKey }: OwnTenant): Input[] {
  const graphql = (name: string, body: string): Input => ({
    name: `GraphQL ${name}`,
    send: (ask) => ask('/graphql', { method: 'POST', body }),
  });
  const rest = (name: string, method: string, path: string, body: string): Input => ({
    name: `REST ${name}`,
    send: (ask) => ask(`/v1/projects/${projectId}${path}`, { method, body }),
  });
  const inProject = `"projectIdOrName":"${projectId}","integrationIdOrName":"crm"`;
  return [
    ...DOCUMENTS.map(([name, query]) => graphql(`document: ${name}`, JSON.stringify({ query }))),
    ...BODIES.flatMap(([name, value]) => [
      graphql(
        `record: ${name}`,
        `{"query":"${WRITE}","variables":{"input":{${inProject},"objectName":"contacts","groupRef":"a","type":"CREATE","record":${value}}}}`,
      ),
      graphql(
        `revision: ${name}`,
        `{"query":"${REVISE}","variables":{"input":{${inProject},"revision":{"specVersion":"1.0.0","content":${value}}}}}`,
      ),
      rest(`revision: ${name}`, 'POST', '/integrations/crm/revisions', `{"revision":${value}}`),
      rest(`destination: ${name}`, 'POST', '/destinations', `{"metadata":{"headers":${value}}}`),
      rest(`body: ${name}`, 'POST', '/topics', value),
    ]),
    ...MANIFESTS.map(([name, sourceYaml]) =>
      rest(`manifest: ${name}`, 'PUT', '/integrations:batch', JSON.stringify({ sourceYaml })),
    ),
    {
      name: 'path and query',
      send: (ask) => ask(`/v1/projects/${projectId}/topics?x=${fill('%61', HEAD_BYTES)}`),
    },
    {
      name: 'bearer token',
      send: (ask) =>
        ask('/graphql', {
          method: 'POST',
          headers: { authorization: `Bearer ${fill('eyJh.', HEAD_BYTES)}`, 'x-api-key': '' },
          body: '{"query":"{ viewer { kind } }"}',
        }),
    },
    {
      name: "a provider's event",
      send: (ask) =>
        ask(`/webhooks/hubspot/app_01`, { method: 'POST', body: BODIES[1]?.[1] ?? '' }),
    },
    {
      name: 'WebSocket message',
      async send(_ask, { url }) {
        const client = await openSocket(url);
        client.send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
        await client.next();
        client.send(`{"id":"1","type":"subscribe","payload":{"query":${BODIES[2]?.[1]}}}`);
        await Promise.race([client.next(), client.closed]);
        client.socket.terminate();
        return 200;
      },
    },
  ];
}

test('no input at its limit holds up the process for long', async () => {
  const { env, tenant } = await prepareEmbedded();
  const gateway = await startGateway(env);
  const ask = askAt(gateway, tenant);
  const report: { input: string; status: number; stallMs: number }[] = [];
  for (const { name, send } of inputsOf(tenant)) {
    let [status, stallMs] = [0, Number.POSITIVE_INFINITY];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const watched = await gateway.watchLoad();
      status = await send(ask, gateway);
      // The loop has turned since, so that its delay is known.
      for (const path of ['/livez', '/livez']) await ask(path);
      const { loopDelayMaxMs, threadCpuMs } = await watched();
      stallMs = Math.min(stallMs, loopDelayMaxMs, threadCpuMs);
    }
    report.push({ input: name, status, stallMs });
  }
  report.sort((a, b) => b.stallMs - a.stallMs);
  console.log(`The loop's longest stall for each input; the goal is ${GOAL_MS} ms.`);
  console.table(report);
  expect(report.filter(({ status }) => status >= 500)).toEqual([]);
  expect(report.filter(({ stallMs }) => stallMs > STALL_MS_MAX)).toEqual([]);
});
