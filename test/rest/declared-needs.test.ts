/**
 * Calls every endpoint with a key of each single scope, and compares the result with the endpoint's
 * declaration.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import {
  describeNeed,
  findScope,
  isForBuilders,
  type Need,
  scopesMeet,
} from '../../src/domain/access/viewer/needs.ts';
import { ALL_SCOPES, type Scope } from '../../src/domain/access/viewer/scopes.ts';
import { forwardRequest, getForwarding } from '../../src/domain/integrations/installation/proxy.ts';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import {
  createMinimalValue,
  type JsonSchema,
  listOperations,
  type Operation,
} from '../support/rest/minimal-request.ts';

const CONCURRENCY = 16;

const app = await getSharedApp({ env: HIGH_RATE_LIMITS });
const tenant = await app.createTenant();
const operations = listOperations(app.app.rest.swagger());

/** The needs of the proxy's routes, which are not among the endpoints. */
const PROXY_NEEDS: Need[] = [getForwarding.needs, forwardRequest.needs];
const needs = new Map<string, Need[]>([
  ...ENDPOINTS.map((endpoint): [string, Need[]] => [endpoint.id, [endpoint.needs]]),
  ...['Get', 'Post', 'Put', 'Patch', 'Delete'].map((method): [string, Need[]] => [
    `forward${method}`,
    PROXY_NEEDS,
  ]),
]);

/** Parameters with needs of their own. */
const parameters = ENDPOINTS.flatMap(({ id, memberNeeds = {} }) =>
  Object.entries(memberNeeds).map(([name, need]) => ({ id, name, need: need as Need })),
);

/** Returns a body of the schema. If it has an update mask, the masked field has a value. */
function createMinimalBody(schema: JsonSchema): unknown {
  const { updateMask, ...members } = schema.properties ?? {};
  if (!updateMask) return createMinimalValue(schema);
  const [[member, values] = ['', {}]] = Object.entries(members);
  const maskedFields = createMinimalValue(updateMask) as string[];
  return {
    updateMask: maskedFields,
    [member]: createMinimalValue({ ...values, required: maskedFields }),
  };
}

/** Returns a valid request for objects that do not exist, with the optional parameter `name`. */
function createRequest(
  { method, path, parameters: declaredParameters = [], requestBody }: Operation,
  optional?: string,
): [string, RequestInit] {
  const listParameters = (part: string) =>
    declaredParameters
      .filter(
        ({ in: location, name, required }) => location === part && (required || name === optional),
      )
      .map(({ name, schema }) => [name, String(createMinimalValue(schema))]);
  const pathValues = Object.fromEntries(listParameters('path'));
  const filledPath = path.replace(/\{(\w+)\}/g, (_all, name: string) => pathValues[name]);
  const schema = requestBody?.content['application/json']?.schema;
  const headers = { ...Object.fromEntries(listParameters('header')), ...(schema && JSON_BODY) };
  const body = schema ? JSON.stringify(createMinimalBody(schema)) : null;
  return [
    `/v1${filledPath}?${new URLSearchParams(listParameters('query'))}`,
    { method, headers, body },
  ];
}

const JSON_BODY = { 'content-type': 'application/json' };

/** Returns the status of the response, and the type of a refusal. */
async function fetchOutcome(
  [path, { headers, ...init }]: [string, RequestInit],
  credentials: Record<string, string>,
): Promise<string> {
  const response = await app.fetch(path, { ...init, headers: { ...headers, ...credentials } });
  const body = await response.text();
  const isProblem = response.headers.get('content-type')?.includes('problem');
  return `${response.status} ${isProblem ? JSON.parse(body).type : ''}`.trim();
}

/** Returns the outcomes by operation id. */
async function callEveryOperation(credentials: Record<string, string>) {
  const responses = new Map<string, string>();
  const operationIterator = operations.values();
  const work = async () => {
    for (const operation of operationIterator) {
      responses.set(
        operation.operationId,
        await fetchOutcome(createRequest(operation), credentials),
      );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return responses;
}

const FORBIDDEN = '403 urn:problem:forbidden';
const UNAUTHENTICATED = '401 urn:problem:unauthenticated';

test('lists every endpoint in the OpenAPI document, with its needs', () => {
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual([...needs.keys()].sort());
  for (const { operationId, description, security } of operations) {
    const declaredNeeds = needs.get(operationId) as Need[];
    const texts =
      declaredNeeds === PROXY_NEEDS
        ? PROXY_NEEDS.map((need) => `\`${findScope(need)}\``)
        : declaredNeeds.map(describeNeed);
    for (const text of texts) {
      expect([operationId, description]).toEqual([operationId, expect.stringContaining(text)]);
    }
    const schemes = security?.flatMap((scheme) => Object.keys(scheme));
    const bearerOnly = declaredNeeds.some(isForBuilders);
    expect([operationId, schemes]).toEqual([
      operationId,
      bearerOnly ? ['bearer'] : ['apiKey', 'bearer'],
    ]);
  }
});

function createNeedCheck(scopes: Scope[]) {
  return (need: Need) => scopesMeet(scopes, need);
}

test.each([
  ...ALL_SCOPES,
  null,
])('lets a key of the scope %s call exactly the endpoints that declare it', async (scope) => {
  const scopes: Scope[] = scope ? [scope] : [];
  const isMet = createNeedCheck(scopes);
  const responses = await callEveryOperation({ 'x-api-key': await tenant.createKey(...scopes) });
  const expected = [...responses].map(([id]) => {
    const isAllowed = (needs.get(id) as Need[]).every(isMet);
    return [id, isAllowed ? expect.not.stringContaining('403') : FORBIDDEN];
  });
  expect(Object.fromEntries(responses)).toEqual(Object.fromEntries(expected));
});

test('describes the needs of parameters that return or change more', () => {
  expect(parameters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['includeCreds', 'includeRefreshToken', 'includeSecrets', 'rotate']),
  );
  for (const { id, name, need } of parameters) {
    const operation = operations.find(({ operationId }) => operationId === id);
    const parameter = operation?.parameters?.find((candidate) => candidate.name === name);
    expect([name, parameter?.description]).toEqual([
      name,
      expect.stringContaining(describeNeed(need)),
    ]);
  }
});

/**
 * Each scope is tested alone and together with the endpoint's needs: neither alone is enough for a parameter.
 */
test.each(parameters)('requires both needs for $id with $name', async ({ id, name, need }) => {
  const operation = operations.find(({ operationId }) => operationId === id) as Operation;
  const endpointNeeds = needs.get(id) as Need[];
  const request = createRequest(operation, name);
  for (const scope of ALL_SCOPES) {
    for (const scopes of [[scope], [...(endpointNeeds.map(findScope) as Scope[]), scope]]) {
      const response = await fetchOutcome(request, {
        'x-api-key': await tenant.createKey(...scopes),
      });
      const isAllowed = [...endpointNeeds, need].every(createNeedCheck(scopes));
      const expected = isAllowed ? expect.not.stringContaining('403') : FORBIDDEN;
      expect([scopes, response]).toEqual([scopes, expected]);
    }
  }
});

test('refuses every endpoint without a key', async () => {
  expect(new Set((await callEveryOperation({})).values())).toEqual(new Set([UNAUTHENTICATED]));
});
