import { beforeEach, describe, expect, test } from 'vitest';
import {
  recordBadCredentials,
  recordWorking,
} from '../../../src/domain/connections/connection/connection-status.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  insertDestination,
} from '../../support/fixtures/integrations.ts';
import { installReads, PAUSE_READS, RESUME_READS } from '../../support/fixtures/reads.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const clock = { aheadMs: 0 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const app = await getSharedApp({ now: () => new Date(Date.now() + clock.aheadMs) });
const insert = insertRows(app);
const { services } = app.app;
const { prisma } = services.database;

beforeEach(() => {
  clock.aheadMs = 0;
});

const ITEM_FIELDS = `kind objectName detail startTime lastTime count acknowledgedBy acknowledgeTime
  subject { __typename id }`;
const LIST_ATTENTION_ITEMS = `query ListAttentionItems($project: String) {
  project(idOrName: $project) { attentionItems { ${ITEM_FIELDS} } }
}`;
const ACKNOWLEDGE_ITEM = `mutation AcknowledgeAttentionItem($input: AcknowledgeAttentionItemInput!) {
  acknowledgeAttentionItem(input: $input) { attentionItem { ${ITEM_FIELDS} } }
}`;
const REOPEN_ITEM = `mutation ReopenAttentionItem($input: ReopenAttentionItemInput!) {
  reopenAttentionItem(input: $input) { attentionItem { ${ITEM_FIELDS} } }
}`;
const CREATE_OAUTH = `mutation StartOAuthConnect($input: StartOAuthConnectInput!) {
  startOAuthConnect(input: $input) { authorizeUrl }
}`;

interface Item {
  kind: string;
  objectName: string | null;
  lastTime: string;
  acknowledgedBy: string | null;
  acknowledgeTime: string | null;
  subject: { __typename: string; id: string };
}

async function listItems({ query, projectId }: Tenant): Promise<Item[]> {
  return (await query(LIST_ATTENTION_ITEMS, { project: projectId })).project.attentionItems;
}

const getItem = async (tenant: Tenant) => {
  const [item, ...otherItems] = await listItems(tenant);
  if (!item || otherItems.length > 0) throw new Error('There must be one attention item.');
  return item;
};

const createInput = (
  { projectId }: Pick<Tenant, 'projectId'>,
  { kind, subject, objectName, lastTime }: Item,
) => ({
  input: { projectIdOrName: projectId, kind, subjectId: subject.id, objectName, lastTime },
});

const createReopenInput = (tenant: Tenant, item: Item) => {
  const { lastTime: _lastTime, ...input } = createInput(tenant, item).input;
  return { input };
};

async function acknowledge(tenant: Tenant, item: Item, by: Pick<Tenant, 'query'> = tenant) {
  const { acknowledgeAttentionItem } = await by.query(ACKNOWLEDGE_ITEM, createInput(tenant, item));
  return acknowledgeAttentionItem.attentionItem;
}

function setFailingSince(id: string, failingSince: Date | null) {
  return prisma.destination.updateMany({ where: { id }, data: { failingSince } });
}

async function createFailingDestination(tenant: Tenant) {
  const { id } = await insertDestination(app, tenant);
  await setFailingSince(id, services.now());
  return id;
}

async function createConnection(tenant: Tenant) {
  const { id } = await generateConnection(tenant);
  const connection = { id, projectId: tenant.projectId };
  const { credentialsSealed: sealed } = await prisma.connection.findFirstOrThrow({ where: { id } });
  return {
    id,
    fail: () =>
      recordBadCredentials(services, { connection, sealed, cause: 'REQUEST', errors: ['revoked'] }),
    recover: () => recordWorking(services, { connection, sealed, isRefreshable: false }),
  };
}

async function insertProposal({ projectId }: Tenant) {
  const group = { id: newId('grp'), projectId, groupRef: newId('grp'), groupName: 'Acme' };
  await prisma.group.create({ data: group });
  await prisma.proposal.create({
    data: {
      ...{ id: newId('prp'), projectId, groupId: group.id, createdBy: 'api:key' },
      ...{ integrationId: newId('int'), installationId: newId('ins'), objectName: 'people' },
      ...{ type: 'CREATE', after: {}, payloadHash: '', planHash: '', createTime: services.now() },
      expireTime: new Date(services.now().getTime() + DAY_MS),
    },
  });
}

interface Problem {
  kind: string;
  subject: string;
  /** Creates the problem. `recur` ends it, if it can end, and lets it happen again. */
  begin(tenant: Tenant): Promise<{ recur(): Promise<unknown> }>;
}

const PROBLEMS: Problem[] = [
  {
    kind: 'DESTINATION_FAILING',
    subject: 'Destination',
    async begin(tenant) {
      const id = await createFailingDestination(tenant);
      return {
        async recur() {
          await setFailingSince(id, null);
          expect(await listItems(tenant)).toEqual([]);
          await setFailingSince(id, services.now());
        },
      };
    },
  },
  {
    kind: 'CONNECTION_BAD_CREDENTIALS',
    subject: 'ConnectedAccount',
    async begin(tenant) {
      const connection = await createConnection(tenant);
      await connection.fail();
      return {
        async recur() {
          await connection.recover();
          expect(await listItems(tenant)).toEqual([]);
          await connection.fail();
        },
      };
    },
  },
  {
    kind: 'INSTALLATION_UNHEALTHY',
    subject: 'Installation',
    async begin(tenant) {
      const integration = await createIntegration(app, tenant, createIntegrationContent());
      const { id: installationId } = await connectAndInstall(tenant, integration);
      const { projectId } = tenant;
      const end = (status: 'SUCCESS' | 'FAILURE') =>
        insert.operation({ projectId, installationId, status, createTime: new Date(0) });
      const fail = async () => {
        for (let failures = 0; failures < 3; failures += 1) await end('FAILURE');
      };
      await fail();
      return {
        async recur() {
          await end('SUCCESS');
          expect(await listItems(tenant)).toEqual([]);
          await fail();
        },
      };
    },
  },
  {
    kind: 'SETUP_FAILED',
    subject: 'Provider',
    async begin(tenant) {
      const failSetup = async () => {
        const user = await createEndUser(app, tenant);
        const input = { projectIdOrName: tenant.projectId, provider: 'sandbox' };
        await user.expectRefusal(CREATE_OAUTH, {
          input: { ...input, groupRef: 'acme', consumerRef: 'ann' },
        });
      };
      await failSetup();
      return {
        async recur() {
          clock.aheadMs += 61 * MINUTE_MS;
          await failSetup();
        },
      };
    },
  },
  {
    kind: 'READ_PAUSED',
    subject: 'Installation',
    async begin(tenant) {
      const { input } = await installReads(app, tenant);
      await tenant.query(PAUSE_READS, { input: { ...input, note: 'moving' } });
      return {
        async recur() {
          await tenant.query(RESUME_READS, { input });
          expect(await listItems(tenant)).toEqual([]);
          await tenant.query(PAUSE_READS, { input });
        },
      };
    },
  },
  {
    kind: 'PROPOSALS_PENDING',
    subject: 'Project',
    async begin(tenant) {
      await insertProposal(tenant);
      return { recur: () => insertProposal(tenant) };
    },
  },
  {
    kind: 'OPERATIONS_FAILED',
    subject: 'Project',
    async begin(tenant) {
      const { projectId } = tenant;
      // The operation that fails last began first.
      const earlierOperation = await insert.operation({ projectId, status: 'IN_PROGRESS' });
      await insert.operation({ projectId, status: 'FAILURE', actionType: 'WRITE' });
      return {
        recur: () =>
          prisma.operation.updateMany({
            where: { id: earlierOperation.id },
            data: { status: 'FAILURE', updateTime: services.now() },
          }),
      };
    },
  },
  {
    kind: 'DELIVERIES_FAILED',
    subject: 'Project',
    async begin(tenant) {
      const fail = () =>
        insert.delivery({
          projectId: tenant.projectId,
          status: 'FAILED',
          createTime: services.now(),
        });
      await fail();
      return { recur: fail };
    },
  },
];

describe.each(PROBLEMS)('$kind', ({ kind, subject, begin }) => {
  test('is listed until it is acknowledged, and again when it recurs', async () => {
    const tenant = await app.createTenant();
    const { recur } = await begin(tenant);
    const item = await getItem(tenant);
    expect(item).toMatchObject({ kind, acknowledgedBy: null, acknowledgeTime: null, count: 1 });
    expect(item.subject.__typename).toBe(subject);

    const acknowledged = await acknowledge(tenant, item);
    expect(acknowledged).toEqual({
      ...item,
      acknowledgedBy: `api:${tenant.apiKeyId}`,
      acknowledgeTime: expect.any(String),
    });
    expect(await listItems(tenant)).toEqual([acknowledged]);

    clock.aheadMs += MINUTE_MS;
    await recur();
    const recurredItem = await getItem(tenant);
    expect(recurredItem).toMatchObject({ kind, subject: item.subject, acknowledgedBy: null });
    expect(recurredItem.lastTime > item.lastTime || kind === 'INSTALLATION_UNHEALTHY').toBe(true);
    expect(await acknowledge(tenant, recurredItem)).toMatchObject({
      acknowledgedBy: `api:${tenant.apiKeyId}`,
    });
  });
});

test('returns the stored reason, the object and the times of a problem', async () => {
  const tenant = await app.createTenant();
  const { input } = await installReads(app, tenant);
  const startTime = new Date('2026-01-02T03:04:05.678Z');
  clock.aheadMs = startTime.getTime() - Date.now();
  await tenant.query(PAUSE_READS, { input: { ...input, note: 'moving' } });
  expect((await getItem(tenant)).lastTime.slice(0, 19)).toBe('2026-01-02T03:04:05');
  expect(await getItem(tenant)).toMatchObject({
    objectName: 'contacts',
    detail: 'moving',
    subject: { id: input.installationId },
  });
});

test('counts failures of the last 24 hours from the first to the last', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * MINUTE_MS);
  const times = [hoursAgo(25), hoursAgo(20), hoursAgo(3), hoursAgo(1)];
  await insert.operations(
    times.map((createTime) => ({ projectId, status: 'FAILURE' as const, createTime })),
  );
  expect(await getItem(tenant)).toMatchObject({
    kind: 'OPERATIONS_FAILED',
    count: 3,
    startTime: times[1]?.toISOString(),
    lastTime: times[3]?.toISOString(),
    subject: { __typename: 'Project', id: projectId },
  });
});

test('lists an installation with rejected credentials once, by its connection', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createIntegrationContent());
  const { connection } = await connectAndInstall(tenant, integration);
  await prisma.connection.updateMany({
    where: { id: connection.id },
    data: { status: 'BAD_CREDENTIALS' },
  });
  const { healthStatus } = await prisma.installation.findFirstOrThrow({
    where: { projectId: tenant.projectId },
  });
  expect(healthStatus).toBe('UNHEALTHY');
  expect(await getItem(tenant)).toMatchObject({ kind: 'CONNECTION_BAD_CREDENTIALS' });
});

test('lists at most 100 items of a kind, unacknowledged ones first', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const failingSince = services.now();
  const destinations = Array.from({ length: 101 }, (_, number) => ({
    ...{ id: newId('dst'), projectId, name: `hook-${number}`, type: 'STREAM' as const },
    failingSince: new Date(failingSince.getTime() - number),
  }));
  await prisma.destination.createMany({ data: destinations });
  const [newestItem] = await listItems(tenant);
  expect(newestItem?.subject.id).toBe(destinations[0]?.id);
  await acknowledge(tenant, newestItem as Item);
  const items = await listItems(tenant);
  expect(items.map(({ subject }) => subject.id)).toEqual(destinations.slice(1).map(({ id }) => id));
});

test('shares an acknowledgement with the members of the org, who can reopen the item', async () => {
  const tenant = await app.createTenant();
  await createFailingDestination(tenant);
  const item = await getItem(tenant);
  await acknowledge(tenant, item, tenant.builder);
  const acknowledged = await getItem(tenant);
  expect(acknowledged.acknowledgedBy).toBe(`builder:${tenant.builderId}`);
  for (let times = 0; times < 2; times += 1) {
    const { reopenAttentionItem } = await tenant.query(
      REOPEN_ITEM,
      createReopenInput(tenant, item),
    );
    expect(reopenAttentionItem.attentionItem).toEqual(item);
  }
  expect(await getItem(tenant)).toEqual(item);
});

test('acknowledges an item only up to the time that the caller has read', async () => {
  const tenant = await app.createTenant();
  const id = await createFailingDestination(tenant);
  const item = await getItem(tenant);
  await setFailingSince(id, new Date(Date.now() + MINUTE_MS));
  expect(await acknowledge(tenant, item)).toMatchObject({ acknowledgedBy: null });

  const farFuture = { ...item, lastTime: '2100-01-01T00:00:00.000Z' };
  expect((await acknowledge(tenant, farFuture)).acknowledgedBy).not.toBeNull();
  expect((await acknowledge(tenant, item)).acknowledgedBy).not.toBeNull();
  await setFailingSince(id, new Date(Date.now() + 2 * MINUTE_MS));
  expect((await getItem(tenant)).acknowledgedBy).toBeNull();
});

test('refuses items of other projects, ended items, and items without their object', async () => {
  const tenant = await app.createTenant();
  const otherTenant = await app.createTenant();
  const id = await createFailingDestination(tenant);
  const item = await getItem(tenant);
  const notFound = {
    code: 'NOT_FOUND',
    problem: { detail: expect.stringContaining(id) },
  };
  expect(
    await otherTenant.expectRefusal(ACKNOWLEDGE_ITEM, createInput(otherTenant, item)),
  ).toMatchObject(notFound);
  expect(
    await otherTenant.expectRefusal(REOPEN_ITEM, createReopenInput(otherTenant, item)),
  ).toMatchObject(notFound);
  expect(
    await otherTenant.expectRefusal(ACKNOWLEDGE_ITEM, createInput(tenant, item)),
  ).toMatchObject({ code: 'NOT_FOUND' });
  expect(await listItems(otherTenant)).toEqual([]);
  expect(await prisma.acknowledgement.count({ where: { subjectId: id } })).toBe(0);

  await setFailingSince(id, null);
  expect(await tenant.expectRefusal(ACKNOWLEDGE_ITEM, createInput(tenant, item))).toMatchObject(
    notFound,
  );
  const { input } = await installReads(app, tenant);
  await tenant.query(PAUSE_READS, { input });
  const itemWithoutObject = { ...(await getItem(tenant)), objectName: null };
  expect(
    await tenant.expectRefusal(ACKNOWLEDGE_ITEM, createInput(tenant, itemWithoutObject)),
  ).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('reports every invalid member', async () => {
  const tenant = await app.createTenant();
  const { problem } = await tenant.expectRefusal(ACKNOWLEDGE_ITEM, {
    input: {
      projectIdOrName: tenant.projectId,
      kind: 'DESTINATION_FAILING',
      subjectId: '',
      objectName: 'x'.repeat(257),
      lastTime: '2026-01-02T03:04:05.678Z',
    },
  });
  expect(listIssueNames(problem)).toEqual(['input.subjectId', 'input.objectName']);
});

test('lets the scope read list items, and only the scope full acknowledge them', async () => {
  const tenant = await app.createTenant();
  await createFailingDestination(tenant);
  const item = await getItem(tenant);
  const reader = await tenant.withScopes('read');
  expect(await listItems({ ...tenant, ...reader })).toEqual([item]);
  const writer = await tenant.withScopes('read', 'events:write', 'connections:write');
  for (const [mutation, variables] of [
    [ACKNOWLEDGE_ITEM, createInput(tenant, item)],
    [REOPEN_ITEM, createReopenInput(tenant, item)],
  ] as const) {
    expect(await writer.expectRefusal(mutation, variables)).toMatchObject({ code: 'FORBIDDEN' });
  }
});

test('returns FORBIDDEN to end users, agents and pages', async () => {
  const tenant = await app.createTenant();
  await createFailingDestination(tenant);
  const item = await getItem(tenant);
  const callers = [
    await createEndUser(app, tenant),
    await createAgent(app, tenant),
    await tenant.withScopes('frontend'),
  ];
  for (const caller of callers) {
    expect(await caller.expectRefusal(LIST_ATTENTION_ITEMS, {})).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await caller.expectRefusal(ACKNOWLEDGE_ITEM, createInput(tenant, item))).toMatchObject({
      code: 'FORBIDDEN',
    });
  }
});

test('deletes acknowledgements with their subjects', async () => {
  const tenant = await app.createTenant();
  const destinationId = await createFailingDestination(tenant);
  const connection = await createConnection(tenant);
  await connection.fail();
  for (const item of await listItems(tenant)) await acknowledge(tenant, item);
  const { projectId } = tenant;
  const countAcknowledgements = () => prisma.acknowledgement.count({ where: { projectId } });
  expect(await countAcknowledgements()).toBe(2);
  await prisma.destination.deleteMany({ where: { projectId, id: destinationId } });
  expect(await countAcknowledgements()).toBe(1);
  await prisma.connection.deleteMany({ where: { projectId, id: connection.id } });
  expect(await countAcknowledgements()).toBe(0);
});
