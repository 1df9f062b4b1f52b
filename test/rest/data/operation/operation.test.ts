import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { insertRows } from '../../../support/database/insert-rows.ts';
import { createRestTenant, listIssuePositions } from '../../../support/rest/rest-client.ts';
import { createRestInstallation } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();
const insert = insertRows(app);

async function createOperations(count: number) {
  const rest = await createRestInstallation(app);
  const { projectId, integrationId, id: installationId } = rest.installation;
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const status = index === 0 ? 'FAILURE' : 'SUCCESS';
    const row = { projectId, integrationId, installationId, status } as const;
    ids.push((await insert.operation(row)).id);
  }
  return { ...rest, projectId, newestFirst: ids.reverse() };
}

const listIds = (items: { id: string }[]) => items.map(({ id }) => id);

test("lists an installation's operations in pages, newest first", async () => {
  const { newestFirst, ...rest } = await createOperations(5);
  const path = `${rest.installationPath}/operations`;
  const wholeList = await rest.get(path);
  expect(listIds(wholeList.results)).toEqual(newestFirst);
  expect(wholeList.pagination).toEqual({ done: true });
  const pages: string[][] = [];
  let query = '?pageSize=2';
  for (;;) {
    const { results, pagination } = await rest.get(`${path}${query}`);
    pages.push(listIds(results));
    if (pagination.done) break;
    query = `?pageSize=2&pageToken=${pagination.nextPageToken}`;
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(newestFirst);
});

test('filters operations by status and kind', async () => {
  const { newestFirst, ...rest } = await createOperations(3);
  for (const path of [rest.installationPath, rest.base]) {
    const failedReads = await rest.get(`${path}/operations?status=failure&actionType=read`);
    expect(listIds(failedReads.results)).toEqual(newestFirst.slice(-1));
    expect((await rest.get(`${path}/operations?actionType=write`)).results).toEqual([]);
    const refusal = await rest.expectRefusal('GET', `${path}/operations?status=FAILURE&pageSize=0`);
    expect(listIssuePositions(refusal)).toEqual(['query status', 'query pageSize']);
  }
});

test('returns an operation and its log after the installation is deleted', async () => {
  const { newestFirst, projectId, ...rest } = await createOperations(1);
  const operationId = newestFirst[0] as string;
  const details = { page: 2 };
  await insert.operationLog({ projectId, operationId, message: 'First.' });
  await insert.operationLog({ projectId, operationId, severity: 'ERROR', details });
  await rest.delete(rest.installationPath);
  const path = `${rest.base}/operations/${operationId}`;
  const operation = await rest.get(path);
  expect(operation).toMatchObject({ id: operationId, status: 'failure', actionType: 'read' });
  expect((await rest.get(`${rest.base}/operations`)).results).toEqual([operation]);
  const message = { operation_id: operationId };
  expect(await rest.get(`${path}/logs`)).toMatchObject([
    { severity: 'INFO', message: { ...message, msg: 'First.' } },
    { severity: 'ERROR', message: { ...message, details: { page: '2' } } },
  ]);
  const { body, headers } = await rest.request('GET', `${path}/logs?pageSize=1`);
  expect(body).toHaveLength(1);
  expect(headers.link).toContain('pageToken=');
});

test("returns 404 for another tenant's operations", async () => {
  const { newestFirst, ...rest } = await createOperations(1);
  const otherTenant = await createRestTenant(app);
  for (const base of [rest.base, otherTenant.base]) {
    for (const end of ['', '/logs']) {
      const refusal = await otherTenant.expectRefusal(
        'GET',
        `${base}/operations/${newestFirst[0]}${end}`,
      );
      expect(refusal.status).toBe(404);
    }
  }
  expect(await otherTenant.expectRefusal('GET', `${rest.base}/operations`)).toMatchObject({
    status: 404,
  });
});
