/**
 * Sends every input at its size limit, one request at a time. None may use more CPU time in an iteration of the event loop
 * than `toStallMsMax` permits.
 */
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/insert-rows.ts';
import { createWriter } from '../support/fixtures/writes.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { listOperations } from '../support/rest/minimal-request.ts';
import { openSocket } from '../support/socket.ts';
import { getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { IS_SHORT } from './fixtures/settings.ts';
import { createEventApps, createExpensiveInputs } from './stall/expensive-inputs.ts';
import { toStallMsMax } from './stall/hostile-texts.ts';
import type { LargeInput } from './stall/large-input.ts';
import { ROUNDS_MAX } from './stall/measure-stall.ts';
import { walkGraphqlInputs, walkRestInputs } from './stall/walked-inputs.ts';

/** The number of slowest inputs that are shown. */
const SHOWN_COUNT = 40;
const OPERATION_COUNT = 1_000;
/** Rate limits would disturb the measurement. */
const HIGH_RATE_LIMITS = { RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMIT_BURST: '1000000' };

test('responds to every input at its size limit without blocking the event loop', async () => {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const app = await createTestApp({ database, env: { ENCRYPTION_KEY } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const writer = await createWriter(app);
  const { projectId, apiKey } = writer;
  await insertRows(app).operations(Array.from({ length: OPERATION_COUNT }, () => ({ projectId })));
  const ids = await createEventApps(writer);
  await app.app.start();
  const gateway = await startGateway({
    ...{ DATABASE_URL: url, ROLES: 'api', SANDBOX: 'true' },
    ...HIGH_RATE_LIMITS,
  });
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());

  const send = async ({ method, path, headers, body }: LargeInput) => {
    const response = await request(gateway.url + path, {
      ...{ dispatcher, method, ...(body !== undefined && { body }) },
      headers: { 'x-api-key': apiKey, ...headers },
    });
    await response.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return response.statusCode;
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
  const measure = async (input: LargeInput) => {
    const stop = await gateway.watchTurns();
    const sending = (input.method === 'WebSocket' ? sendMessage : send)(input);
    const status = await sending.catch((cause: unknown) => {
      throw new Error(`No response to ${input.name}`, { cause });
    });
    const stallMs = await stop();
    const stallMsMax = toStallMsMax(input.body?.length ?? 0);
    expect(status, input.name).toBeLessThan(500);
    return { name: input.name, status, stallMs, isTooLong: stallMs > stallMsMax };
  };

  const document = await (await fetch(`${gateway.url}/v1/openapi.json`)).json();
  /** The short form omits inputs that a walk of the schema finds. */
  function* listInputs(): Generator<LargeInput> {
    yield* createExpensiveInputs(writer, { url: gateway.url, ids });
    if (IS_SHORT) return;
    yield* walkGraphqlInputs(projectId);
    yield* walkRestInputs(listOperations(document), projectId);
  }
  const stallByName = new Map<string, Awaited<ReturnType<typeof measure>>>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const input of listInputs()) {
      if (round > 0 && !stallByName.get(input.name)?.isTooLong) continue;
      const stall = await measure(input);
      const { stallMs = stall.stallMs } = stallByName.get(input.name) ?? {};
      if (stall.stallMs <= stallMs) stallByName.set(input.name, stall);
    }
    if (![...stallByName.values()].some(({ isTooLong }) => isTooLong)) break;
  }
  const stalls = [...stallByName.values()].sort((a, b) => b.stallMs - a.stallMs);
  console.log(`${stalls.length} inputs`);
  console.table(stalls.slice(0, SHOWN_COUNT));
  expect(stalls.filter(({ isTooLong }) => isTooLong)).toEqual([]);
});
