/**
 * Random calls get a result or a refusal, and never an internal error.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { createFullTenant } from '../support/fuzz/full-tenant.ts';
import { type FuzzCall, generateCalls, KnownIds } from '../support/fuzz/fuzz.ts';

/** To send more or other calls, set `FUZZ_CALLS=20000 FUZZ_SEED=7`. */
const CALL_COUNT = Number(process.env.FUZZ_CALLS ?? 1_500);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const CONCURRENT_CALLS = 4;

/** Replaces all providers except the sandbox. */
const UNREACHABLE_URL = 'http://127.0.0.1:9';
const app = await getSharedApp({
  env: {
    HUBSPOT_BASE_URL: UNREACHABLE_URL,
    SALESFORCE_BASE_URL: UNREACHABLE_URL,
    ...HIGH_RATE_LIMITS,
  },
});

test('returns no internal error for calls that are generated from the schema', async () => {
  const [tenant, otherTenant] = [await createFullTenant(app), await createFullTenant(app)];
  const reader = await tenant.withScopes('read', 'connections:write');
  const { viewer } = await tenant.query(
    'query ApiKeys { viewer { project { apiKeys { nodes { id } } } } }',
  );
  const keys: { id: string }[] = viewer.project.apiKeys.nodes;
  const knownIds = new KnownIds(keys.map(({ id }) => id));
  knownIds.collect([otherTenant.ids, newId('top'), tenant.ids]);
  const callers = [tenant, tenant, tenant, tenant.builder, tenant.builder, tenant.builder, reader];
  const failures: unknown[] = [];
  const countByErrorCode = new Map<string, number>();

  const send = async (template: FuzzCall, caller: (typeof callers)[number]) => {
    const call = knownIds.fill(template);
    const { status, data, errors = [] } = await caller.request(call.query, call.variables);
    for (const { extensions } of errors) {
      countByErrorCode.set(extensions.code, (countByErrorCode.get(extensions.code) ?? 0) + 1);
    }
    const hasInternalError = errors.some(({ extensions }) => extensions.code === 'INTERNAL_ERROR');
    if (status >= 500 || hasInternalError) failures.push({ ...call, status, errors });
    knownIds.collect(data ?? null);
  };

  const calls = generateCalls(SEED, CALL_COUNT).entries();
  const sendCalls = async () => {
    for (const [index, call] of calls) await send(call, callers[index % callers.length] ?? tenant);
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, sendCalls));
  expect(failures).toEqual([]);
  // Calls that failed GraphQL validation would get none of these codes. UNPROCESSABLE is too rare to expect.
  for (const code of ['BAD_USER_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT']) {
    expect(countByErrorCode.get(code) ?? 0, code).toBeGreaterThan(0);
  }
}, 300_000);
