/** Creates a tenant with a pending delivery, and with texts that are hard to copy. */

import { Prisma } from '../../../src/database/generated/client.ts';
import type { Database } from '../../../src/database/open/database.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Tenant, TestApp } from '../app.ts';
import { createConnectionVariables, GENERATE_CONNECTION } from '../fixtures/connections.ts';
import { createConnectionWebhook, createWebhook } from '../fixtures/webhooks.ts';
import type { Receiver } from '../receiver.ts';

export const LIST_EVENTS = `query ListEvents($project: String!, $after: String) {
  project(idOrName: $project) { notificationEvents(first: 50, after: $after) { edges { cursor node { id } } } }
}`;
export const LIST_DELIVERIES = `query ListDeliveries($id: ID!) {
  node(id: $id) { ... on Destination { deliveries(first: 10) { nodes { id status failureReason } } } }
}`;

/** A destination's sealed values, and their masked form for readers without `credentials:read`. */
export const SEALED_TARGET = {
  url: 'https://hooks.example.test/?token=***',
  headers: { 'X-Key': '***' },
  urlWithValues: 'https://hooks.example.test/?token=in-the-query',
  headerValues: { 'X-Key': 'in-a-header' },
};
export const LIST_SEALED_VALUES = `query ListSealedValues($project: String!) {
  project(idOrName: $project) {
    destinations(first: 10) { nodes { name url headers urlWithValues headerValues } }
  }
}`;

/** Contains every character that a text format may need to escape. */
const NAME_TO_ESCAPE = "a\"b\\c,(d)\n{null}\t'e' NULL é 🦊 \\N";

/** Creates a destination that responds with 500, and waits for the first delivery attempt of one event. */
export async function createPendingDelivery(app: TestApp, receiver: Receiver) {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  receiver.setBehavior(projectId, { status: 500 });
  const webhook = { name: 'hooks', url: receiver.getUrl(projectId) };
  const { destinationId, signingSecret } = await createConnectionWebhook(tenant, webhook);
  const { urlWithValues: url, headerValues: headers } = SEALED_TARGET;
  await createWebhook(tenant, { name: 'sealed', url, headers });
  await connectGroup(tenant, 'first');
  await receiver.waitForMessages(projectId, 1);
  await insertRowsToEscape(app, projectId);
  return { tenant, destinationId, signingSecret };
}

/** Connects an account for the group, which records a `connection.created` event. */
export function connectGroup(tenant: Tenant, groupRef: string) {
  return tenant.query(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, { apiKey: 'sandbox-key', groupRef }),
  );
}

async function insertRowsToEscape({ app }: TestApp, projectId: string): Promise<void> {
  const { prisma } = app.services.database;
  const group = { projectId, groupRef: NAME_TO_ESCAPE, groupName: NAME_TO_ESCAPE };
  await prisma.group.create({ data: { ...group, id: newId('grp') } });
  const operation = { projectId, integrationId: 'i', installationId: 'i', configId: 'c' } as const;
  const readFields = { actionType: 'READ', status: 'SUCCESS', result: NAME_TO_ESCAPE } as const;
  for (const metadata of [
    Prisma.JsonNull,
    { [NAME_TO_ESCAPE]: [NAME_TO_ESCAPE, null, 1e300, 2 ** 53, {}] },
  ]) {
    const data = { id: newId('opr'), ...operation, ...readFields, metadata };
    await prisma.operation.create({ data });
  }
}

/** Creates a group whose erasure has started and has lost its job. */
export async function insertLostErasure({ prisma }: Database, projectId: string): Promise<void> {
  const key = { projectId, id: newId('grp') };
  await prisma.group.create({ data: { ...key, groupRef: 'gone', groupName: 'gone' } });
  await prisma.erasure.create({ data: key });
}
