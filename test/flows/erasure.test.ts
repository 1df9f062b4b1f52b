/** An erased group, consumer or project is hidden as soon as the request returns. Its job deletes every row. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import {
  createErasureTenant,
  createRowsInEveryTable,
  findRowsWithMark,
  startErasureJobs,
} from '../support/fixtures/erasures.ts';
import { CREATE_INSTALLATION, UPDATE_INSTALLATION } from '../support/fixtures/integrations.ts';
import { POLLING } from '../support/fixtures/reads.ts';
import { WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { createRestClient } from '../support/rest/rest-client.ts';

const lines: string[] = [];
const log = createLog('debug', { write: (line) => void lines.push(line) });
const app = await getSharedApp({ log });
const { services, sandbox } = app.app;
const { prisma } = services.database;
sandbox.seed('contacts', 3);

const ERASE_GROUP =
  'mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }';
const ERASE_CONSUMER =
  'mutation EraseConsumer($input: EraseConsumerInput!) { eraseConsumer(input: $input) { deletedId } }';
const DELETE_PROJECT =
  'mutation DeleteProject($input: DeleteProjectInput!) { deleteProject(input: $input) { deletedId } }';

const PROJECT_CONTENTS = `query ProjectContents($id: String!, $ids: [ID!]!) {
  project(idOrName: $id) {
    groups { totalCount nodes { groupRef } }
    consumers { totalCount nodes { consumerRef } }
    connections { totalCount nodes { id } }
    installations { totalCount nodes { id } }
    operations { totalCount nodes { id } }
    notificationEvents { totalCount nodes { id data } }
    destinations { nodes {
      deliveries(first: 20) { totalCount nodes { id } }
      messages(first: 20) { totalCount nodes { id body } }
    } }
  }
  nodes(ids: $ids) { id }
}`;

/** Returns everything that the API shows of the project, as text. */
async function fetchVisible(tenant: Tenant, ids: string[] = []): Promise<string> {
  return JSON.stringify(await tenant.query(PROJECT_CONTENTS, { id: tenant.projectId, ids }));
}

/** Returns a unique name, to search the database for. */
function createMark(name: string): string {
  return `${name}-${crypto.randomUUID()}`;
}

async function waitUntilErased(id: string): Promise<void> {
  await expect.poll(() => prisma.erasure.count({ where: { id } }), POLLING).toBe(0);
}

test('hides an erased group immediately, removes its data with its names, and keeps other groups', async () => {
  const tenant = await createErasureTenant(app);
  const [erasedMark, keptMark] = [createMark('gone'), createMark('stays')];
  const workers = await startErasureJobs(app);
  const customer = await createRowsInEveryTable(app, tenant, {
    groupRef: erasedMark,
    consumerRef: createMark('ann'),
  });
  await createRowsInEveryTable(app, tenant, { groupRef: keptMark, consumerRef: createMark('bob') });
  await workers[Symbol.asyncDispose]();
  const keptRows = await findRowsWithMark(app, keptMark);
  const tables = new Set(
    (await findRowsWithMark(app, erasedMark)).map((line) => line.split(' ')[0]),
  );
  expect([...tables]).toEqual(
    expect.arrayContaining([
      'public."Delivery"',
      'public."Group"',
      'public."IdempotencyKey"',
      'public."NotificationEvent"',
      'public."StreamMessage"',
      'public."WriteEntry"',
    ]),
  );
  const journalFolder = join(services.config.DATA_DIR, 'token-journal');
  mkdirSync(journalFolder, { recursive: true });
  const journalFile = join(journalFolder, `${customer.connectionId}.json`);
  writeFileSync(journalFile, '{}');
  const revokedBefore = sandbox.oauth.counts.revoked;
  const { id } = await prisma.group.findFirstOrThrow({ where: { groupRef: erasedMark } });

  const input = { projectIdOrName: tenant.projectId, groupRef: erasedMark };
  expect(await tenant.query(ERASE_GROUP, { input })).toEqual({ eraseGroup: { deletedId: id } });
  const ids = [id, customer.connectionId, customer.installationId, ...customer.operationIds];
  const visibleText = await fetchVisible(tenant, ids);
  expect(visibleText).not.toContain(erasedMark);
  for (const id of ids) expect(visibleText).not.toContain(id);
  expect(visibleText).toContain(keptMark);
  // The rows still exist, because no worker has run.
  expect(await prisma.operation.count({ where: { groupId: id } })).toBe(2);
  expect(await tenant.expectRefusal(ERASE_GROUP, { input })).toMatchObject({ code: 'NOT_FOUND' });

  await using _workers = await startErasureJobs(app);
  await waitUntilErased(id);
  expect(await findRowsWithMark(app, erasedMark)).toEqual([]);
  expect(await findRowsWithMark(app, id)).toEqual([]);
  expect(await findRowsWithMark(app, keptMark)).toEqual(keptRows);
  expect(existsSync(journalFile)).toBe(false);
  expect(sandbox.oauth.counts.revoked).toBe(revokedBefore + 1);
  expect(lines.join('')).toContain('connection.revoked');
  expect(lines.join('')).not.toContain(erasedMark);
});

test('creates a new group when the ref of an erased group connects again', async () => {
  const tenant = await createErasureTenant(app);
  const erasedConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'again',
  });
  const input = { projectIdOrName: tenant.projectId, groupRef: 'again' };
  await tenant.query(ERASE_GROUP, { input });
  const newConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'again',
  });
  expect(newConnection.group.id).not.toBe(erasedConnection.group.id);
  await using _workers = await startErasureJobs(app);
  await waitUntilErased(erasedConnection.group.id);
  expect(JSON.parse(await fetchVisible(tenant)).project.connections.nodes).toEqual([
    { id: newConnection.id },
  ]);
});

test('erases a consumer with the installations that use their connections, and keeps the groups', async () => {
  const tenant = await createErasureTenant(app);
  const erasedMark = createMark('gone');
  const groupRef = createMark('group');
  const workers = await startErasureJobs(app);
  const customer = await createRowsInEveryTable(app, tenant, { groupRef, consumerRef: erasedMark });
  await workers[Symbol.asyncDispose]();
  const { id } = await prisma.consumer.findFirstOrThrow({ where: { consumerRef: erasedMark } });
  const input = { projectIdOrName: tenant.projectId, consumerRef: erasedMark };
  const reader = await tenant.withScopes('read', 'connections:write');
  expect(await reader.expectRefusal(ERASE_CONSUMER, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  const otherTenant = await app.createTenant();
  expect(await otherTenant.expectRefusal(ERASE_CONSUMER, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  await createRestClient(app, { 'x-api-key': tenant.apiKey }).delete(
    `/projects/${tenant.projectId}/consumers/${erasedMark}`,
  );
  const ids = [id, customer.connectionId, customer.installationId, ...customer.operationIds];
  const visibleText = await fetchVisible(tenant, ids);
  for (const value of [erasedMark, ...ids]) expect(visibleText).not.toContain(value);
  expect(visibleText).toContain(groupRef);
  await using _workers = await startErasureJobs(app);
  await waitUntilErased(id);
  expect(await findRowsWithMark(app, erasedMark)).toEqual([]);
});

test('uses no connection of an erased consumer, even before the job deletes it', async () => {
  const tenant = await createErasureTenant(app);
  const groupRef = createMark('group');
  const workers = await startErasureJobs(app);
  const keptCustomer = await createRowsInEveryTable(app, tenant, {
    groupRef,
    consumerRef: createMark('stays'),
  });
  const erasedMark = createMark('gone');
  const erasedConnection = { groupRef, consumerRef: erasedMark, apiKey: 'sandbox-key-of-gone' };
  const { id: connectionId, consumer } = await generateConnection(tenant, erasedConnection);
  await workers[Symbol.asyncDispose]();
  const { projectId: projectIdOrName } = tenant;
  const input = { projectIdOrName, integrationIdOrName: 'crm', groupRef };
  const { installationId } = keptCustomer;
  await tenant.query(UPDATE_INSTALLATION, {
    input: { projectIdOrName, installationId, connectionId },
  });
  await tenant.query(ERASE_CONSUMER, { input: { projectIdOrName, consumerRef: erasedMark } });
  expect(await prisma.connection.count({ where: { id: connectionId } })).toBe(1);
  const write = {
    objectName: 'contacts',
    type: 'CREATE',
    records: { record: { email: 'a@b.test' } },
  };
  expect(
    await tenant.expectRefusal(WRITE_RECORDS, { input: { ...input, ...write } }),
  ).toMatchObject({ code: 'NOT_FOUND' });
  const withConnection = { input: { ...input, connectionId } };
  const { problem } = await tenant.expectRefusal(CREATE_INSTALLATION, withConnection);
  expect(problem.issues).toMatchObject([{ name: 'input.connectionId', detail: 'does not exist.' }]);
  // The group's other connection replaces it, although it is older.
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, { input });
  expect(createInstallation.installation.connection.id).toBe(keptCustomer.connectionId);
  await tenant.query(WRITE_RECORDS, { input: { ...input, ...write } });
  await using _workers = await startErasureJobs(app);
  await waitUntilErased(consumer.id);
  expect(await prisma.installation.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('erases a project with all its rows if its name is confirmed', async () => {
  const tenant = await createErasureTenant(app, createMark('gone'));
  const otherTenant = await createErasureTenant(app);
  const { projectId, projectName } = tenant;
  const groupRef = createMark('group');
  const workers = await startErasureJobs(app);
  await createRowsInEveryTable(app, tenant, { groupRef, consumerRef: createMark('ann') });
  await createRowsInEveryTable(app, otherTenant, { groupRef: 'acme', consumerRef: 'bob' });
  await workers[Symbol.asyncDispose]();
  // Requests to providers are recorded in the background.
  await app.app.services.requestRecorder?.flush();
  const keptRows = await findRowsWithMark(app, otherTenant.projectId);
  const input = { projectIdOrName: projectId, confirmName: projectName.toUpperCase() };
  const wrongName = { ...input, confirmName: 'other' };
  const { problem } = await tenant.builder.expectRefusal(DELETE_PROJECT, { input: wrongName });
  expect(problem.issues).toMatchObject([{ name: 'input.confirmName', value: 'other' }]);
  expect(await tenant.expectRefusal(DELETE_PROJECT, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await otherTenant.builder.expectRefusal(DELETE_PROJECT, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });

  expect(await tenant.builder.query(DELETE_PROJECT, { input })).toEqual({
    deleteProject: { deletedId: projectId },
  });
  expect(await tenant.expectRefusal('query Viewer { viewer { kind } }')).toMatchObject({
    code: 'UNAUTHENTICATED',
  });
  const asBuilder = await fetchVisible({ ...tenant, ...tenant.builder }, [projectId]);
  expect(JSON.parse(asBuilder)).toEqual({ project: null, nodes: [null] });
  const createAgain = `mutation CreateProject { createProject(input: {
    orgId: "${tenant.orgId}", name: "${projectName}", appName: "Anew" }) { project { name } } }`;
  expect(await tenant.builder.query(createAgain)).toMatchObject({
    createProject: { project: { name: projectName } },
  });

  await using _workers = await startErasureJobs(app);
  await waitUntilErased(projectId);
  expect(await findRowsWithMark(app, projectId)).toEqual([]);
  expect(await findRowsWithMark(app, groupRef)).toEqual([]);
  expect(await findRowsWithMark(app, otherTenant.projectId)).toEqual(keptRows);
});

test('requires the confirmed name of a project as a query parameter over REST', async () => {
  const tenant = await app.createTenant();
  const builder = createRestClient(app, { authorization: `Bearer ${tenant.token}` });
  const path = `/projects/${tenant.projectName}`;
  expect(await builder.expectRefusal('DELETE', path)).toMatchObject({
    status: 400,
    issues: [{ in: 'query', name: 'confirmName' }],
  });
  await builder.delete(`${path}?confirmName=${tenant.projectName}`);
  expect(await builder.expectRefusal('GET', path)).toMatchObject({ status: 404 });
  await builder.delete(`/orgs/${tenant.orgId}`);
});
