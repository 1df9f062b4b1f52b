import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp } from '../../../support/app.ts';
import { insertRows } from '../../../support/database/insert-rows.ts';
import { UPDATE_INSTALLATION } from '../../../support/fixtures/integrations.ts';
import { installReads } from '../../../support/fixtures/reads.ts';

const app = await getSharedApp();
const insert = insertRows(app);

interface WithId {
  id: string;
}
const listIds = ({ nodes }: { nodes: WithId[] }) => nodes.map(({ id }) => id);

test('returns an operation after its objects are deleted', async () => {
  const tenant = await app.createTenant();
  const metadata = {
    objects: ['contact', 'company'],
    progress: { objectName: 'contact', recordsProcessed: 7, recordsEstimatedTotal: 20 },
    successfulRecordIds: ['r1'],
    retry: { attempts: 2, lastAttempt: '2026-01-02T03:04:05.678Z' },
  };
  const operation = await insert.operation({
    projectId: tenant.projectId,
    status: 'FAILURE',
    result: '[contact] No new data found',
    metadata,
  });
  const query = `query GetOperation($id: ID!) { node(id: $id) { id ... on Operation {
    project { id } integrationId integration { id } installationId installation { id } configId config { id }
    actionType status result createTime updateTime
    metadata {
      objects successfulRecordIds
      progress { operationId installationId objectName recordsProcessed recordsEstimatedTotal }
      retry { attempts lastAttemptTime }
    }
  } } }`;
  expect((await tenant.query(query, { id: operation.id })).node).toEqual({
    id: operation.id,
    project: { id: tenant.projectId },
    integrationId: operation.integrationId,
    integration: null,
    installationId: operation.installationId,
    installation: null,
    configId: operation.configId,
    config: null,
    actionType: 'READ',
    status: 'FAILED',
    result: '[contact] No new data found',
    createTime: operation.createTime.toISOString(),
    updateTime: null,
    metadata: {
      ...metadata,
      retry: { attempts: 2, lastAttemptTime: metadata.retry.lastAttempt },
      progress: {
        operationId: operation.id,
        installationId: operation.installationId,
        ...metadata.progress,
      },
    },
  });
  const minimalOperation = await insert.operation({ projectId: tenant.projectId });
  expect((await tenant.query(query, { id: minimalOperation.id })).node).toMatchObject({
    result: null,
    metadata: { objects: ['contact'], successfulRecordIds: [], progress: null, retry: null },
  });
});

test('lists operations newest first, by status, by kind, and by both', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { projectId } = tenant;
  const read = await insert.operation({ projectId });
  const failedOperation = await insert.operation({ projectId, status: 'FAILURE' });
  const write = await insert.operation({ projectId, actionType: 'WRITE' });
  await insert.operation({ projectId: otherTenant.projectId });
  const query = `query ListOperations($id: String!, $status: OperationStatus, $actionType: OperationActionType,
                        $last: Int) {
    project(idOrName: $id) {
      operations(status: $status, actionType: $actionType, last: $last) {
        nodes { id } totalCount
      }
    }
  }`;
  const listOperationIds = async (filters: Record<string, unknown>) => {
    const { project } = await tenant.query(query, { id: projectId, ...filters });
    return listIds(project.operations);
  };
  expect(await listOperationIds({})).toEqual([write.id, failedOperation.id, read.id]);
  expect(await listOperationIds({ last: 2 })).toEqual([failedOperation.id, read.id]);
  expect(await listOperationIds({ status: 'SUCCEEDED' })).toEqual([write.id, read.id]);
  expect(await listOperationIds({ actionType: 'READ' })).toEqual([failedOperation.id, read.id]);
  expect(await listOperationIds({ status: 'SUCCEEDED', actionType: 'READ' })).toEqual([read.id]);
  expect(await listOperationIds({ status: 'IN_PROGRESS' })).toEqual([]);
  expect(await listOperationIds({ actionType: 'SUBSCRIBE', status: null })).toEqual([]);
  expect(
    await otherTenant.query('query GetNode($id: ID!) { node(id: $id) { id } }', { id: read.id }),
  ).toEqual({
    node: null,
  });
});

test('lists logs oldest first, in both directions', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { id: operationId } = await insert.operation({ projectId });
  const insertLine = (message: string, overrides = {}) =>
    insert.operationLog({ projectId, operationId, message, ...overrides });
  await insertLine('started');
  const details = { page: 1, records: ['a'] };
  const { timestamp } = await insertLine('page', { severity: 'DEBUG', details });
  await insertLine('failed', { severity: 'ERROR' });
  const query = `query GetOperation($id: ID!, $first: Int, $after: String, $last: Int) { node(id: $id) {
    ... on Operation { logs(first: $first, after: $after, last: $last) {
      nodes { createTime severity message details }
      pageInfo { hasNextPage hasPreviousPage endCursor } totalCount
    } }
  } }`;
  const readPage = async (args: Record<string, unknown>) => {
    const { logs } = (await tenant.query(query, { id: operationId, ...args })).node;
    return { ...logs, messages: logs.nodes.map((node: { message: string }) => node.message) };
  };
  const firstPage = await readPage({ first: 2 });
  expect(firstPage.messages).toEqual(['started', 'page']);
  expect(firstPage.nodes[1]).toEqual({
    createTime: timestamp.toISOString(),
    severity: 'DEBUG',
    message: 'page',
    details,
  });
  expect(firstPage).toMatchObject({
    totalCount: 3,
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const lastPage = await readPage({ first: 2, after: firstPage.pageInfo.endCursor });
  expect(lastPage).toMatchObject({
    messages: ['failed'],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  expect((await readPage({ last: 2 })).messages).toEqual(['page', 'failed']);
});

test('returns FORBIDDEN for a key without the scope read', async () => {
  const tenant = await app.createTenant();
  const writer = await tenant.withScopes('records:write');
  const { id } = await insert.operation({ projectId: tenant.projectId });
  const query = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  expect(await writer.expectRefusal(query, { id })).toMatchObject({ code: 'FORBIDDEN' });
  expect(await tenant.query(query, { id: newId('opr') })).toEqual({ node: null });
});

test('returns the config that an operation began with after the config was replaced', async () => {
  const tenant = await app.createTenant();
  const { id } = await installReads(app, tenant);
  const { prisma } = app.app.services.database;
  const { configId } = await prisma.installation.findFirstOrThrow({ where: { id } });
  const { id: operationId } = await insert.operation({
    projectId: tenant.projectId,
    installationId: id,
    configId,
  });
  await tenant.query(UPDATE_INSTALLATION, {
    input: {
      projectIdOrName: tenant.projectId,
      installationId: id,
      config: { read: [], write: [] },
    },
  });
  const query = `query GetConfig($operation: ID!, $config: ID!) {
    operation: node(id: $operation) {
      ... on Operation { configId config { id read { objectName } } installation { config { id } } }
    }
    config: node(id: $config) { id }
  }`;
  const { operation, config } = await tenant.query(query, {
    operation: operationId,
    config: configId,
  });
  expect(operation).toMatchObject({
    configId,
    config: { id: configId, read: [{ objectName: 'contacts' }] },
  });
  expect(operation.installation.config.id).not.toBe(configId);
  expect(config.id).toBe(configId);
});
