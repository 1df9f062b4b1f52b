/** Subscriptions of end users, which follow their own group's operations until their tokens end. */
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp, type Tenant, type TestApp } from '../../../support/app.ts';
import { insertRows } from '../../../support/database/insert-rows.ts';
import { type EventStream, openEventStream } from '../../../support/event-stream.ts';
import {
  createBearerClient,
  createEndUser,
  createJwtIssuer,
} from '../../../support/fixtures/end-users.ts';

const app = await getSharedApp();
const SUBSCRIBE_TO_OPERATION =
  'subscription FollowOperation($id: ID!) { operation(id: $id) { id status } }';
const FOLLOW_NOTIFICATION_EVENTS =
  'subscription FollowNotificationEvents($p: String!) { notificationEvents(projectIdOrName: $p) { cursor } }';

async function insertOperation(testApp: TestApp, { projectId }: Tenant, groupRef = 'acme') {
  const { reads } = testApp.app.services.database;
  const [group] = await reads.find('Group', { projectId, groupRef });
  const { id } = await insertRows(testApp).operation({
    projectId,
    groupId: group?.id,
    status: 'IN_PROGRESS',
  });
  return id;
}

async function follow(
  testApp: TestApp,
  token: string,
  variables: Record<string, unknown>,
  query = SUBSCRIBE_TO_OPERATION,
) {
  const headers = { authorization: `Bearer ${token}` };
  return openEventStream(testApp.fetch, { query, variables, headers });
}

async function readRefusal(stream: EventStream) {
  const message = await stream.next();
  stream.close();
  return message?.data?.errors?.[0].extensions.code ?? message?.event;
}

test("delivers operations of the end user's group, and none of other groups", async () => {
  const tenant = await app.createTenant();
  const user = await createEndUser(app, tenant);
  await createEndUser(app, tenant, { groupRef: 'rival', consumerRef: 'bob' });
  const id = await insertOperation(app, tenant);
  const stream = await follow(app, user.token, { id });
  expect((await stream.next())?.data.data.operation).toEqual({ id, status: 'IN_PROGRESS' });
  stream.close();
  const foreign = await insertOperation(app, tenant, 'rival');
  for (const hidden of [foreign, 'opr_01h455vb4pex5vsknk084sn02q']) {
    expect(await readRefusal(await follow(app, user.token, { id: hidden }))).toBe('NOT_FOUND');
  }
  const events = await follow(app, user.token, { p: tenant.projectId }, FOLLOW_NOTIFICATION_EVENTS);
  expect(await readRefusal(events)).toBe('FORBIDDEN');
});

test('ends a stream with its key, its group and its consumer', async () => {
  const { prisma } = app.app.services.database;
  const createErasure = (what: string) =>
    `mutation Erase${what}($input: Erase${what}Input!) { erase${what}(input: $input) { deletedId } }`;
  const ends: [name: string, end: (tenant: Tenant, keyId: string) => Promise<unknown>][] = [
    ['key', (_tenant, id) => prisma.jwtKey.updateMany({ where: { id }, data: { active: false } })],
    ['deleted key', (_tenant, id) => prisma.jwtKey.deleteMany({ where: { id } })],
    [
      'group',
      ({ projectId, query }) =>
        query(createErasure('Group'), { input: { projectIdOrName: projectId, groupRef: 'acme' } }),
    ],
    [
      'consumer',
      ({ projectId, query }) =>
        query(createErasure('Consumer'), {
          input: { projectIdOrName: projectId, consumerRef: 'ann' },
        }),
    ],
  ];
  for (const [name, end] of ends) {
    const tenant = await app.createTenant();
    const issuer = await createJwtIssuer(tenant);
    const token = await issuer.sign();
    await createBearerClient(app, token).query('{ viewer { kind } }');
    const stream = await follow(app, token, { id: await insertOperation(app, tenant) });
    expect((await stream.next())?.data.data.operation.status).toBe('IN_PROGRESS');
    await end(tenant, issuer.id);
    // An erased operation is hidden, so the stream may end before the token is refused.
    const isErased = name === 'group' || name === 'consumer';
    const allowedEnds = isErased ? ['UNAUTHENTICATED', 'complete'] : ['UNAUTHENTICATED'];
    expect(allowedEnds, name).toContain(await readRefusal(stream));
  }
});

test('ends a stream when its token expires', async () => {
  let ms = Date.now();
  await using testApp = await createTestApp({ now: () => new Date(ms) });
  const tenant = await testApp.createTenant();
  const user = await createEndUser(testApp, tenant);
  const stream = await follow(testApp, user.token, { id: await insertOperation(testApp, tenant) });
  expect((await stream.next())?.data.data.operation.status).toBe('IN_PROGRESS');
  ms += 600_000;
  expect(await readRefusal(stream)).toBe('UNAUTHENTICATED');
});
