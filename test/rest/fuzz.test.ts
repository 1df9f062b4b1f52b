/**
 * Sends generated requests. Every response must be declared in the OpenAPI document, and none may be an internal error.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { createFullTenant } from '../support/fuzz/full-tenant.ts';
import { KnownIds } from '../support/fuzz/fuzz.ts';
import { createResponseCheck, type OpenapiDocument } from '../support/rest/openapi.ts';
import {
  buildHeaders,
  buildUrl,
  generateRestCalls,
  type RestCall,
  type RestOperation,
} from '../support/rest/rest-fuzz.ts';

/** To send more or other calls, set `FUZZ_CALLS=20000 FUZZ_SEED=7`. */
const CALL_COUNT = Number(process.env.FUZZ_CALLS ?? 1_800);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const CONCURRENCY = 4;
const SHOWN_CHARACTERS = 2_000;

/** The test calls no provider except the built-in sandbox. */
const unreachable = 'http://127.0.0.1:9';
const app = await getSharedApp({
  env: {
    HUBSPOT_BASE_URL: unreachable,
    SALESFORCE_BASE_URL: unreachable,
    ...HIGH_RATE_LIMITS,
  },
});
const { rest } = app.app;
const document = rest.swagger() as unknown as OpenapiDocument;
const check = createResponseCheck(document);

/** All operations except the proxy, whose responses are the provider's. */
const operations = new Map(
  Object.entries(document.paths)
    .filter(([path]) => !path.includes('/proxy'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, RestOperation] => [
        operation.operationId,
        { ...operation, method: method.toUpperCase(), path },
      ]),
    ),
);

async function send({ query, variables }: RestCall, credentials: Record<string, string>) {
  const operation = operations.get(query) as RestOperation;
  const payload = variables.malformedBody ?? JSON.stringify(variables.body);
  const { statusCode, headers, body } = await rest.inject({
    method: operation.method as 'GET',
    url: `/v1${buildUrl(operation, variables)}`,
    headers: {
      ...buildHeaders(variables),
      ...credentials,
      ...(payload !== undefined && { 'content-type': 'application/json' }),
    },
    ...(payload !== undefined && { payload }),
  });
  const contentType = headers['content-type'] as string | undefined;
  const parsedBody = contentType?.includes('json') ? JSON.parse(body) : body;
  const result = {
    method: operation.method,
    path: operation.path.replace(/\{\w+\}/g, 'x'),
    status: statusCode,
    contentType,
    body: parsedBody,
  };
  check(result);
  // An unreachable provider is not an internal error.
  if (statusCode >= 500) expect(parsedBody.type).toBe('urn:problem:provider-error');
  return result;
}

test('returns only declared responses, and no internal error, for generated calls', async () => {
  const [ownTenant, otherTenant] = [await createFullTenant(app), await createFullTenant(app)];
  const { viewer } = await ownTenant.query('{ viewer { project { apiKeys { nodes { id } } } } }');
  const keys: { id: string }[] = viewer.project.apiKeys.nodes;
  const knownIds = new KnownIds([...keys.map(({ id }) => id), ownTenant.apiKey]);
  knownIds.collect([otherTenant.ids, newId('top'), ownTenant.ids]);
  const key = { 'x-api-key': ownTenant.apiKey };
  const bearer = { authorization: `Bearer ${ownTenant.token}` };
  const callers = [key, key, bearer, bearer, {}];
  const failures: unknown[] = [];
  const statuses = new Map<number, number>();
  const succeededOperations = new Set<string>();

  const remainingCalls = generateRestCalls([...operations.values()], {
    seed: SEED,
    count: CALL_COUNT,
  }).entries();
  const work = async () => {
    for (const [index, template] of remainingCalls) {
      const call = knownIds.fill(template) as RestCall;
      try {
        const { status, body } = await send(call, callers[index % callers.length] ?? {});
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status < 300) succeededOperations.add(call.query);
        knownIds.collect(body);
      } catch (error) {
        failures.push({
          call: JSON.stringify(call).slice(0, SHOWN_CHARACTERS),
          error: String(error),
        });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  expect(failures).toEqual([]);
  // The calls passed validation, and met each kind of refusal.
  for (const status of [200, 201, 204, 400, 401, 403, 404, 409, 422]) {
    expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0);
  }
  expect(succeededOperations.size).toBeGreaterThan(operations.size / 2);
}, 120_000);
