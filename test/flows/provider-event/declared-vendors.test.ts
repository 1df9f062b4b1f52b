/**
 * Sends requests as each declared provider with events signs them, and expects messages at the destination.
 *
 * @module-tag all/walk
 */
import { beforeAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  createSender,
  createVendorProvider,
  type EventVendor,
  installEventVendor,
  startEventVendor,
  waitForWebhook,
} from '../../support/fixtures/event-vendors.ts';
import { startReceiver, verifyMessage } from '../../support/receiver.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';

const names = Object.keys(WIRE_EVENTS);
const vendors = await Promise.all(names.map(startEventVendor));
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: vendors.map(createVendorProvider),
});
const { prisma } = app.app.services.database;
const receiver = await startReceiver();
beforeAll(async () => {
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    for (const vendor of vendors) await vendor[Symbol.asyncDispose]();
  };
});

const cases = vendors.map((vendor): [string, EventVendor] => [vendor.declared.name, vendor]);

test.each(cases)('%s: delivers signed requests, and refuses forged ones', async (name, vendor) => {
  const tenant = await app.createTenant();
  const installation = await installEventVendor(app, { tenant, vendor, receiver });
  const send = createSender(vendor, await waitForWebhook(vendor, installation));
  const { objectName, recordId, recordText = 'From the account', missingKinds } = vendor.events;
  // The forged signature has the form of the vendor's signatures.
  expect(await send({ kind: 'UPDATE', sequence: 1 }, 'f0'.repeat(32))).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(0);

  const isAccepted = expect.toSatisfy((status: number) => status === 200 || status === 204);
  expect(await send({ kind: 'CREATE', sequence: 2 })).toEqual(isAccepted);
  await receiver.waitForMessages(installation.endpoint, 1);
  const [message] = receiver.listMessages(installation.endpoint);
  expect(message && verifyMessage(message, installation.signingSecret)).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: name,
    groupRef: 'acme',
    objectName: 'things',
    rawObjectName: objectName,
    result: [{ subscribeEventType: 'create', id: recordId, mappedFields: { label: recordText } }],
  });

  // A repeated request is accepted, and delivers no second message.
  expect(await send({ kind: 'CREATE', sequence: 2 })).toEqual(isAccepted);
  const lastKind = missingKinds?.includes('DELETE') ? 'UPDATE' : 'DELETE';
  expect(await send({ kind: lastKind, sequence: 3 })).toEqual(isAccepted);
  await receiver.waitForMessages(installation.endpoint, 2);
  const kinds = receiver
    .listMessages(installation.endpoint)
    .flatMap(({ body }) => JSON.parse(body).result)
    .map(({ subscribeEventType }) => subscribeEventType);
  expect(kinds).toEqual(['create', lastKind.toLowerCase()]);
});
