import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { WRITE_RECORDS } from '../support/fixtures/writes.ts';

const app = await getSharedApp();
const tenant = await app.createTenant();
const { projectId, apiKey } = tenant;

const TOO_LONG =
  'has too many items: the lists of a request may have at most 10000 items in total.';
const createNumbers = (count: number) => Array.from({ length: count }, () => 1);

async function writeOverGraphql(record: object) {
  const target = { projectIdOrName: projectId, integrationIdOrName: 'crm', objectName: 'contacts' };
  const input = { ...target, groupRef: 'acme', type: 'CREATE', records: { record } };
  const { errors } = await tenant.request(WRITE_RECORDS, { input });
  const { code, problem } = errors?.[0]?.extensions ?? {};
  return { code, issues: problem?.issues };
}

async function writeOverRest(record: object) {
  const path = `/v1/projects/${projectId}/integrations/crm/objects/contacts`;
  const response = await app.fetch(path, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ groupRef: 'acme', type: 'create', record }),
  });
  return { status: response.status, issues: (await response.json()).issues };
}

test('refuses an input with more than 10,000 list items in total, and reports the list', async () => {
  // `b` itself has one item.
  const record = { a: createNumbers(6_000), b: [{ c: createNumbers(4_000) }] };
  const createIssue = (name: string) =>
    expect.objectContaining({ in: 'body', name, detail: TOO_LONG });
  expect(await writeOverGraphql(record)).toEqual({
    code: 'BAD_USER_INPUT',
    issues: [createIssue('input.records.record.b[0].c')],
  });
  expect(await writeOverRest(record)).toEqual({
    status: 400,
    issues: [createIssue('record.b[0].c')],
  });
});

test('accepts an input with 10,000 list items in total', async () => {
  const record = { a: createNumbers(6_000), b: [{ c: createNumbers(3_999) }] };
  expect(await writeOverGraphql(record)).toMatchObject({ code: 'NOT_FOUND' });
  expect(await writeOverRest(record)).toMatchObject({ status: 404 });
});
