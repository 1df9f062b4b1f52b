import { expect, test } from 'vitest';
import {
  inTransaction,
  type Transaction,
} from '../../../../src/database/transactions/transaction.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { insertRows } from '../../../support/database/insert-rows.ts';
import { queryRows } from '../../../support/database/query.ts';
import { generateConnection, PROVIDERS } from '../../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../../../support/fixtures/integrations.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const insert = insertRows(app);
const { database } = app.app.services;
const { prisma } = database;

type Status = 'IN_PROGRESS' | 'SUCCESS' | 'FAILURE';

async function install(options?: { tenant: Tenant; name: string; groupRef: string }) {
  const tenant = options?.tenant ?? (await app.createTenant());
  const { projectId } = tenant;
  const integration = await createIntegration(app, tenant, createIntegrationContent(options?.name));
  const groupRef = options?.groupRef ?? 'acme';
  const { id, connection } = await connectAndInstall(tenant, integration, { groupRef });
  const insertOperations = async (...statuses: Status[]) => {
    const rows = statuses.map((status) => ({
      id: newId('opr'),
      projectId,
      installationId: id,
      status,
    }));
    await insert.operations(rows);
    return rows.map((row) => row.id);
  };
  const readHealth = async () => {
    const { node } = await tenant.query(
      `query GetInstallation($id: ID!) { node(id: $id) { ... on Installation {
        healthStatus healthReason lastOperation { id }
      } } }`,
      { id },
    );
    return node;
  };
  return { id, tenant, integration, connection, insertOperations: insertOperations, readHealth };
}

const BAD_CREDENTIALS_REASON = 'The provider refuses the credentials of its connection.';
const FAILED_OPERATIONS_REASON = 'Its last 3 operations have failed.';

test('returns the newest operation of the installation', async () => {
  const { insertOperations, readHealth } = await install();
  const otherInstallation = await install();
  const ids = await insertOperations('SUCCESS', 'IN_PROGRESS');
  await otherInstallation.insertOperations('FAILURE');
  expect(await readHealth()).toMatchObject({
    healthStatus: 'HEALTHY',
    lastOperation: { id: ids[1] },
  });
});

const STATUSES_BY_REASON: [string | null, Status[]][] = [
  [null, ['FAILURE', 'FAILURE']],
  [null, ['FAILURE', 'SUCCESS', 'FAILURE', 'FAILURE']],
  [null, ['FAILURE', 'FAILURE', 'FAILURE', 'SUCCESS']],
  [FAILED_OPERATIONS_REASON, ['FAILURE', 'FAILURE', 'FAILURE']],
  [FAILED_OPERATIONS_REASON, ['SUCCESS', 'FAILURE', 'FAILURE', 'FAILURE', 'IN_PROGRESS']],
];

test.each(STATUSES_BY_REASON)('returns the reason %s after %j', async (reason, ends) => {
  const { insertOperations, readHealth } = await install();
  await insertOperations(...ends);
  expect((await readHealth()).healthReason).toBe(reason);
});

test.each(
  STATUSES_BY_REASON,
)('returns the reason %s after %j, also if they end in one statement', async (reason, ends) => {
  const { insertOperations, readHealth, tenant } = await install();
  const ids = await insertOperations(...ends.map(() => 'IN_PROGRESS' as const));
  await queryRows(
    database,
    `update "Operation" o set "status" = e."status"::"OperationStatus"
     from unnest($1::text[], $2::text[]) e("id", "status") where o."projectId" = $3 and o."id" = e."id"`,
    [ids, ends, tenant.projectId],
  );
  expect((await readHealth()).healthReason).toBe(reason);
});

test('returns HEALTHY after an operation that succeeds', async () => {
  const { insertOperations, readHealth } = await install();
  await insertOperations('FAILURE', 'FAILURE', 'FAILURE', 'FAILURE');
  const [id] = await insertOperations('IN_PROGRESS');
  await prisma.operation.updateMany({ where: { id: id as string }, data: { status: 'SUCCESS' } });
  expect(await readHealth()).toMatchObject({ healthStatus: 'HEALTHY', healthReason: null });
});

test('returns UNHEALTHY while the connection has bad credentials', async () => {
  const { connection, insertOperations, readHealth } = await install();
  const setStatus = (status: 'BAD_CREDENTIALS' | 'WORKING') =>
    prisma.connection.updateMany({ where: { id: connection.id }, data: { status } });
  await insertOperations('FAILURE', 'FAILURE', 'FAILURE');
  await setStatus('BAD_CREDENTIALS');
  expect(await readHealth()).toMatchObject({
    healthStatus: 'UNHEALTHY',
    healthReason: BAD_CREDENTIALS_REASON,
  });
  await setStatus('WORKING');
  expect((await readHealth()).healthReason).toBe(FAILED_OPERATIONS_REASON);
});

test('creates and updates an installation on a connection with bad credentials as UNHEALTHY', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createIntegrationContent());
  const connection = await generateConnection(tenant, { groupRef: 'acme', apiKey: 'sandbox-key' });
  const setStatus = (status: 'BAD_CREDENTIALS' | 'WORKING') =>
    prisma.connection.updateMany({ where: { id: connection.id }, data: { status } });
  await setStatus('BAD_CREDENTIALS');
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: integration.id,
    groupRef: 'acme',
    skipSampling: true,
  };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, { input });
  const { id, ...health } = createInstallation.installation;
  expect(health).toEqual({ healthStatus: 'UNHEALTHY', healthReason: BAD_CREDENTIALS_REASON });

  await setStatus('WORKING');
  const brokenConnection = await generateConnection(tenant, {
    groupRef: 'acme',
    consumerRef: 'bob',
    apiKey: 'sandbox-key',
  });
  await prisma.connection.updateMany({
    where: { id: brokenConnection.id },
    data: { status: 'BAD_CREDENTIALS' },
  });
  const { updateInstallation } = await tenant.query(UPDATE_INSTALLATION, {
    input: {
      projectIdOrName: tenant.projectId,
      installationId: id,
      connectionId: brokenConnection.id,
      skipSampling: true,
    },
  });
  expect(updateInstallation.installation).toEqual({ id, ...health });
});

const CREATE_INSTALLATION = `mutation CreateInstallation($input: CreateInstallationInput!) {
  createInstallation(input: $input) { installation { id healthStatus healthReason } }
}`;
const UPDATE_INSTALLATION = `mutation UpdateInstallation($input: UpdateInstallationInput!) {
  updateInstallation(input: $input) { installation { id healthStatus healthReason } }
}`;

const LIST_INSTALLATIONS = `query ListInstallations($project: String!, $health: InstallationHealth, $integration: String) {
  project(idOrName: $project) {
    installations(first: 2, order: OLDEST_FIRST, healthStatus: $health, integrationIdOrName: $integration) {
      totalCount nodes { id }
    }
  }
}`;

test('lists installations by health', async () => {
  const firstInstallation = await install();
  const { tenant } = firstInstallation;
  const laterInstallations = [];
  for (const name of ['two', 'three', 'four', 'five']) {
    laterInstallations.push(await install({ tenant, name, groupRef: `group-${name}` }));
  }
  const unhealthyInstallations = laterInstallations.slice(1);
  for (const { insertOperations } of unhealthyInstallations)
    await insertOperations('FAILURE', 'FAILURE', 'FAILURE');
  const listInstallations = async (filters: object) => {
    const { project } = await tenant.query(LIST_INSTALLATIONS, {
      project: tenant.projectId,
      ...filters,
    });
    const { totalCount, nodes } = project.installations;
    return [totalCount, ...nodes.map(({ id }: { id: string }) => id)];
  };
  expect(await listInstallations({ health: 'UNHEALTHY' })).toEqual([
    3,
    unhealthyInstallations[0]?.id,
    unhealthyInstallations[1]?.id,
  ]);
  expect(await listInstallations({ health: 'HEALTHY' })).toEqual([
    2,
    firstInstallation.id,
    laterInstallations[0]?.id,
  ]);
  expect(await listInstallations({ health: 'UNHEALTHY', integration: 'five' })).toEqual([
    1,
    unhealthyInstallations[2]?.id,
  ]);
  expect(await listInstallations({ health: 'UNHEALTHY', integration: 'two' })).toEqual([0]);
});

test('refuses healthStatus together with a group', async () => {
  const tenant = await app.createTenant();
  const { problem } = await tenant.expectRefusal(
    `query ListInstallations($project: String!) { project(idOrName: $project) {
      installations(groupRef: "acme", healthStatus: HEALTHY) { totalCount }
    } }`,
    { project: tenant.projectId },
  );
  expect(problem.detail).toContain('healthStatus');
});

test('stores the right health after concurrent changes of all kinds', async () => {
  const { id: installationId, tenant, integration, connection } = await install();
  const { projectId } = tenant;
  const requiringRevisionId = newId('rev');
  const fields = { projectId, integrationId: integration.id, specVersion: '1.0.0' };
  const objects = [{ objectName: 'contacts', requiredFields: [{ mapToName: 'owner' }] }];
  await prisma.revision.create({
    data: { id: requiringRevisionId, ...fields, content: { read: { objects } } },
  });
  const subscription = { projectId, installationId, objectName: 'contacts' };
  const otherColumns = { provider: 'sandbox', connectionId: connection.id };
  await prisma.objectSubscription.create({ data: { ...subscription, ...otherColumns } });

  const changes: ((tx: Transaction, n: number) => Promise<unknown>)[] = [
    (tx, n) =>
      tx.connection.updateMany({
        where: { id: connection.id },
        data: { status: n % 2 ? 'BAD_CREDENTIALS' : 'WORKING' },
      }),
    (tx, n) =>
      tx.objectSubscription.updateMany({
        where: subscription,
        data: n % 2 ? { status: 'FAILED', error: 'No.' } : { status: 'ACTIVE', error: null },
      }),
    (tx, n) =>
      tx.integration.updateMany({
        where: { id: integration.id },
        data: { latestRevisionId: n % 2 ? requiringRevisionId : integration.latestRevision.id },
      }),
    async (tx, n) => {
      const fieldMappings = n % 3 ? [{ mapToName: 'owner', fieldName: 'email' }] : [];
      const choice = { objectName: 'contacts', disabled: false, dynamicMappings: [] };
      const content = { read: [{ ...choice, fieldMappings }] };
      const configId = newId('cfg');
      await tx.installationConfig.create({
        data: { id: configId, projectId, installationId, content },
      });
      await tx.installation.updateMany({ where: { id: installationId }, data: { configId } });
    },
    (tx, n) =>
      tx.operation.create({
        data: {
          ...{ id: newId('opr'), projectId, installationId, integrationId: integration.id },
          ...{ configId: '', actionType: 'READ', metadata: {} },
          status: n % 5 < 4 ? 'FAILURE' : 'SUCCESS',
        },
      }),
  ];
  const ROUNDS = 12;
  const seenReasons = new Set<string | null>();
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(
      changes.map((change, kind) =>
        inTransaction(database, (tx) => change(tx, (round * (kind + 3)) >> 1)),
      ),
    );
    const [storedHealth] = await queryRows<{ stored: string | null; agrees: boolean }>(
      database,
      `select "healthReason" as "stored", ("healthStatus" = 'HEALTHY') = ("healthReason" is null) as "agrees"
       from "Installation" where "projectId" = $1 and "id" = $2`,
      [projectId, installationId],
    );
    const [expectedHealth] = await queryRows<{ reason: string | null }>(
      database,
      'select health_reason($1, $2) as "reason"',
      [projectId, installationId],
    );
    expect(storedHealth).toEqual({ stored: expectedHealth?.reason, agrees: true });
    seenReasons.add(storedHealth?.stored?.slice(0, 20) ?? null);
  }
  expect(seenReasons.size).toBeGreaterThan(2);
});
