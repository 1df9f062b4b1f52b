/** Tests reads of pages whose records are too deep, or which have too many values to be read. */
import { afterAll, expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { installReads, LIST_RECORDS, startReadJobs } from '../../support/fixtures/reads.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';

/** The response to each request for a page of records. */
let pageText = '';
/** Stands in front of the sandbox, and serves its records. */
const server = await startProviderServer(async ({ method, path, query, headers }) => {
  if (path.endsWith('/records')) return { status: 200, body: pageText };
  const response = await fetch(`${app.app.sandbox.url}${path}?${query}`, { method, headers });
  return { status: response.status, body: await response.text() };
});
afterAll(() => server[Symbol.asyncDispose]());
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [createSandboxProvider(() => server.url)],
});

const createDeepRecord = (id: string, levels: number, value = '1') =>
  `{"id":"${id}","lastname":${'{"a":'.repeat(levels)}${value}${'}'.repeat(levels)}}`;
const createPage = (...records: string[]) =>
  `{"records":[${records.join(',')}],"nextCursor":null,"total":1}`;

async function runRead(text: string) {
  pageText = text;
  server.reset();
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await reads.makeDue();
  await startDueReads(app.app.services);
  await using _workers = await startReadJobs(app);
  const [operation] = await reads.waitForOperations(1);
  const requests = server.requests.filter(({ path }) => path.endsWith('/records'));
  return { tenant, reads, operation, requestCount: requests.length };
}

test.each([
  [66, '1'],
  [20_000, '1'],
  [20_000, '1234567890123456789'],
])('fails a read of a record with %i levels around %s, and names it', async (levels, value) => {
  const { operation, requestCount, reads, tenant } = await runRead(
    createPage('{"id":"1"}', createDeepRecord('deep-7', levels, value)),
  );
  expect(operation).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('The record deep-7 is nested deeper than 64 levels.'),
  });
  expect(requestCount).toBe(1);
  expect(await reads.listMessages()).toEqual([]);
  const variables = { id: reads.id, objectName: 'contacts' };
  const { errors } = await tenant.request(LIST_RECORDS, variables);
  expect(errors).toMatchObject([
    { message: expect.stringContaining('deep-7'), extensions: { code: 'UNPROCESSABLE' } },
  ]);
});

test('delivers a record with 64 levels', async () => {
  const { operation, reads } = await runRead(createPage(createDeepRecord('1', 64)));
  expect(operation).toMatchObject({ status: 'SUCCESS' });
  expect(await reads.listMessages()).toHaveLength(1);
});

test('fails a read of a page with millions of lists', async () => {
  const { operation, requestCount } = await runRead(createPage('[],'.repeat(2_000_000)));
  const result = expect.stringMatching(/must have at most [\d,]+ lists and objects/);
  expect(operation).toMatchObject({ status: 'FAILURE', result });
  expect(requestCount).toBe(1);
});

test('retries a page of many values in another form, and names the first problems', async () => {
  const text = createPage(Array.from({ length: 40_000 }, () => '[]').join(','));
  pageText = text;
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  const { errors } = await tenant.request(LIST_RECORDS, {
    id: reads.id,
    objectName: 'contacts',
  });
  expect(errors).toMatchObject([
    { message: expect.stringMatching(/documented format.*records\[0\]/s) },
  ]);
});
