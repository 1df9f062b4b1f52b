/** Whatever a caller sends, the answer is an answer or a refusal: never an error of ours. */
import { expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { sharedApp } from '../support/app.ts';
import { createFuzzer, type FuzzCall } from '../support/fuzz.ts';
import { contentFor, insertDestination, installFor, integrate } from '../support/integrations.ts';
import { insertRows } from '../support/rows.ts';

const CALLS = Number(process.env.FUZZ_CALLS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const AT_ONCE = 4;

/** No provider but the built-in sandbox is reached. */
const unreachable = 'http://127.0.0.1:9';
const app = await sharedApp({
  env: {
    HUBSPOT_BASE_URL: unreachable,
    SALESFORCE_BASE_URL: unreachable,
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
  },
});

/** A project with a row of every kind, so that ids lead somewhere. */
async function fullTenant() {
  const tenant = await app.tenant('fuzz');
  const { projectId } = tenant;
  const integration = await integrate(app, tenant, contentFor());
  const installation = await installFor(tenant, integration);
  const destination = await insertDestination(app, tenant, 'others');
  const insert = insertRows(app);
  const operation = await insert.operation({ projectId, installationId: installation.id });
  await insert.operationLog({ projectId, operationId: operation.id });
  const event = await insert.event({ projectId });
  await insert.delivery({ projectId, eventId: event.id, destinationId: destination.id });
  return { ...tenant, ids: [integration.id, installation.id, operation.id, event.id] };
}

test('no call made up from the schema is answered with an internal error', async () => {
  const [own, other] = [await fullTenant(), await fullTenant()];
  const fuzzer = createFuzzer([own.projectId, own.projectName, other.projectId]);
  fuzzer.learn([own.orgId, own.builderId, ...own.ids, other.orgId, ...other.ids, newId('top')]);
  const callers = [own, own, own.builder, await own.withScopes('read', 'connections:write')];
  const failed: unknown[] = [];
  const refused = new Map<string, number>();

  const send = async (made: FuzzCall, caller: (typeof callers)[number]) => {
    const call = fuzzer.resolve(made);
    const { status, data, errors = [] } = await caller.request(call.query, call.variables);
    for (const { extensions } of errors) {
      refused.set(extensions.code, (refused.get(extensions.code) ?? 0) + 1);
    }
    const isOurs = errors.some(({ extensions }) => extensions.code === 'INTERNAL_ERROR');
    if (status >= 500 || isOurs) failed.push({ ...call, status, errors });
    fuzzer.learn(data ?? null);
  };

  const calls = fuzzer.calls(SEED, CALLS);
  const next = calls[Symbol.iterator]();
  const work = async (lane: number) => {
    for (const call of next) await send(call, callers[lane % callers.length] ?? own);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => work(lane)));
  expect(failed).toEqual([]);
  // It got past the first check, and into each of the ways to refuse.
  for (const code of ['BAD_USER_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'UNPROCESSABLE']) {
    expect(refused.get(code) ?? 0, code).toBeGreaterThan(0);
  }
}, 120_000);
