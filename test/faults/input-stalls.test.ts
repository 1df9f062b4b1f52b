/**
 * Every input at its size limit, one request at a time: how long each holds up the event loop, by the processor time of the
 * loop's longest turn. The goal is 50 ms.
 */
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/rows.ts';
import { operationsOf } from '../support/rest/least-request.ts';
import { createWriter } from '../support/scenes/writes.ts';
import { openSocket } from '../support/socket.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from './scenes/gateway.ts';
import { chosenInputs } from './stall/chosen-inputs.ts';
import { graphqlInputs, type LargeInput, restInputs } from './stall/walked-inputs.ts';

const GOAL_MS = 50;
/** The process would look dead to its balancer. */
const STALL_MS_MAX = 500;
/** The short form leaves the values of each member out. */
const isShort = process.env.FAULTS_SHORT === '1';
/** Inputs that are measured again, and how often: the least of their stalls is without a collection of garbage. */
const SHOWN = 40;
const ROUNDS = 4;
const OPERATIONS = 1_000;
/** Nothing here is about rates. */
const NO_RATES = { RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMIT_BURST: '1000000' };

test('answers every input at its size limit', async () => {
  const database = await testDatabase();
  const url = await databaseUrl(database);
  const app = await testApp({ database, env: { ENCRYPTION_KEY } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const writer = await createWriter(app);
  const { projectId, apiKey } = writer;
  await insertRows(app).operations(Array.from({ length: OPERATIONS }, () => ({ projectId })));
  await app.app.start();
  const gateway = await startGateway({ DATABASE_URL: url, ROLES: 'api', ...NO_RATES });
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());

  const send = async ({ method, path, headers, body }: LargeInput) => {
    const answer = await request(gateway.url + path, {
      ...{ dispatcher, method, ...(body !== undefined && { body }) },
      headers: { 'x-api-key': apiKey, ...headers },
    });
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return answer.statusCode;
  };
  const sendMessage = async ({ body }: LargeInput) => {
    const client = await openSocket(gateway.url);
    client.send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
    await client.next();
    client.send(String(body));
    await Promise.race([client.next(), client.closed]);
    client.socket.terminate();
    return 200;
  };
  const stallOf = async (input: LargeInput) => {
    const stop = await gateway.watchTurns();
    const status = await (input.method === 'WebSocket' ? sendMessage : send)(input);
    const stallMs = await stop();
    expect(status, input.name).toBeLessThan(500);
    return { name: input.name, status, stallMs };
  };

  const document = await (await fetch(`${gateway.url}/v1/openapi.json`)).json();
  const all = function* () {
    yield* chosenInputs(writer);
    if (isShort) return;
    yield* graphqlInputs(projectId);
    yield* restInputs(operationsOf(document), projectId);
  };
  const measured = new Map<string, { status: number; stallMs: number }>();
  for (const input of all()) {
    const { name, ...stall } = await stallOf(input);
    measured.set(name, stall);
  }
  const slowest = () => [...measured].toSorted(([, a], [, b]) => b.stallMs - a.stallMs);
  const names = new Set(
    slowest()
      .slice(0, SHOWN)
      .map(([name]) => name),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const input of all()) {
      const known = measured.get(input.name);
      if (!known || !names.has(input.name)) continue;
      known.stallMs = Math.min(known.stallMs, (await stallOf(input)).stallMs);
    }
  }
  const over = slowest().filter(([, { stallMs }]) => stallMs > GOAL_MS);
  console.log(`${measured.size} inputs, ${over.length} over ${GOAL_MS} ms`);
  console.table(
    slowest()
      .slice(0, SHOWN)
      .map(([name, stall]) => ({ name, ...stall })),
  );
  expect(slowest().filter(([, { stallMs }]) => stallMs > STALL_MS_MAX)).toEqual([]);
});
