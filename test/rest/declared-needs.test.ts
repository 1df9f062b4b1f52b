/** Every endpoint is called with a key of each single scope: what it allows is what its declaration says. */
import { expect, test } from 'vitest';
import { forwardRequest, getForwarding } from '../../src/domain/installation/proxy.ts';
import { type Need, needText } from '../../src/domain/viewer/needs.ts';
import { ALL_SCOPES, allows, type Scope } from '../../src/domain/viewer/scopes.ts';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { sharedApp } from '../support/app.ts';
import { bodyOf, leastOf, type Operation, operationsOf } from '../support/rest/least-request.ts';

const AT_ONCE = 16;

const app = await sharedApp({
  env: { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
});
const tenant = await app.tenant();
const operations = operationsOf(app.app.rest.swagger());

/** The proxy's route is no endpoint of the table: whatever its method, it has these needs. */
const PROXY: Need[] = [getForwarding.needs, forwardRequest.needs];
const needs = new Map<string, Need[]>([
  ...ENDPOINTS.map((endpoint): [string, Need[]] => [endpoint.id, [endpoint.needs]]),
  ...['Get', 'Post', 'Put', 'Patch', 'Delete'].map((method): [string, Need[]] => [
    `forward${method}`,
    PROXY,
  ]),
]);

/** A well-formed request, for what doesn't exist. */
function requestOf({
  method,
  path,
  parameters = [],
  requestBody,
}: Operation): [string, RequestInit] {
  const part = (name: string) =>
    parameters
      .filter((parameter) => parameter.in === name && parameter.required)
      .map((parameter) => [parameter.name, String(leastOf(parameter.schema))]);
  const inPath = Object.fromEntries(part('path'));
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => inPath[name]);
  const schema = requestBody?.content['application/json']?.schema;
  const headers = { ...Object.fromEntries(part('header')), ...(schema && JSON_BODY) };
  const body = schema ? JSON.stringify(bodyOf(schema)) : null;
  return [`/v1${filled}?${new URLSearchParams(part('query'))}`, { method, headers, body }];
}

const JSON_BODY = { 'content-type': 'application/json' };

/** The status that each operation answers with, and the type of what is refused. */
async function callEach(credentials: Record<string, string>) {
  const answers = new Map<string, string>();
  const next = operations.values();
  const work = async () => {
    for (const operation of next) {
      const [path, { headers, ...init }] = requestOf(operation);
      const response = await app.fetch(path, { ...init, headers: { ...headers, ...credentials } });
      const body = await response.text();
      const isRead = response.headers.get('content-type')?.includes('problem');
      answers.set(
        operation.operationId,
        `${response.status} ${isRead ? JSON.parse(body).type : ''}`.trim(),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

const FORBIDDEN = '403 urn:problem:forbidden';
const UNAUTHENTICATED = '401 urn:problem:unauthenticated';

test('the document has every endpoint, with what it needs', () => {
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual([...needs.keys()].sort());
  for (const { operationId, description, security } of operations) {
    const declared = needs.get(operationId) as Need[];
    const said = declared === PROXY ? PROXY.map((need) => `\`${need}\``) : declared.map(needText);
    for (const text of said) {
      expect([operationId, description]).toEqual([operationId, expect.stringContaining(text)]);
    }
    const schemes = security?.flatMap((one) => Object.keys(one));
    const bearerOnly = declared.includes('bearer');
    expect([operationId, schemes]).toEqual([
      operationId,
      bearerOnly ? ['bearer'] : ['apiKey', 'bearer'],
    ]);
  }
});

test.each([
  ...ALL_SCOPES,
  null,
])('a key of the scope %s may call what declares it', async (held) => {
  const scopes: Scope[] = held ? [held] : [];
  const isMet = (need: Need) => need === 'nothing' || (need !== 'bearer' && allows(scopes, need));
  const answers = await callEach({ 'x-api-key': await tenant.keyOf(...scopes) });
  const expected = [...answers].map(([id]) => {
    const isAllowed = (needs.get(id) as Need[]).every(isMet);
    return [id, isAllowed ? expect.not.stringContaining('403') : FORBIDDEN];
  });
  expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(expected));
});

test('without a key no endpoint is reached', async () => {
  expect(new Set((await callEach({})).values())).toEqual(new Set([UNAUTHENTICATED]));
});
