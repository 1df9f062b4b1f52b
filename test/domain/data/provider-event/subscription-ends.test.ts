/** Subscriptions end while another transaction stores their events. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunStatement } from '../../../../src/database/statements/statements.ts';
import { inTransaction } from '../../../../src/database/transactions/transaction.ts';
import { claimSubscriptionsWithEvents } from '../../../../src/domain/data/provider-event/deliver-provider-events.ts';
import {
  deleteClaimedSubscription,
  subscriptions,
} from '../../../../src/domain/data/provider-event/maintain-subscriptions.ts';
import {
  storeInOwnTransaction,
  storeInTransaction,
} from '../../../../src/domain/data/provider-event/receive-events.ts';
import { endSubscriptions } from '../../../../src/domain/upkeep/continue-erasure.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import type { ProviderEvent } from '../../../../src/providers/subscribing.ts';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { claimDueRow } from '../../../support/work/due-work.ts';

const app = await getSharedApp();
const { services } = app.app;
const { database } = services;
const { prisma } = database;
/** The embedded database has one connection, so nothing runs concurrently with a transaction. */
const isEmbedded = database.kind === 'embedded';
/** Concurrent work that does not wait for a lock ends within this time. */
const COMMIT_DELAY_MS = 300;

const createEvents = (count: number): ProviderEvent[] =>
  Array.from({ length: count }, () => ({
    nativeId: crypto.randomUUID(),
    account: 'account',
    objectName: 'contacts',
    recordId: 'c1',
    kind: 'UPDATE',
    nativeType: 'contact.changed',
    time: new Date(),
    changedFields: [],
    record: null,
    association: null,
    raw: {},
  }));

async function createSubscription() {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { id: connectionId, consumer } = await generateConnection(tenant);
  const owner = { projectId, providerAppId: newId('app') };
  const key = { projectId, installationId: newId('ins'), objectName: 'contacts' };
  await prisma.objectSubscription.create({
    data: {
      ...{ ...key, ...owner, connectionId, provider: 'sandbox', account: 'account' },
      ...{ kinds: ['UPDATE'], status: 'ACTIVE' },
    },
  });
  const erasure = { projectId, id: consumer.id as string };
  return { key, owner, erasure };
}

/** Claims the subscription, and returns its row. */
async function claimSubscription(key: { projectId: string }) {
  const claim = await claimDueRow(services, subscriptions, key.projectId);
  return prisma.objectSubscription.findFirstOrThrow({ where: claim });
}

/** Stores an event, and calls `beforeCommit` before the commit. */
async function storeEvent(
  owner: { projectId: string; providerAppId: string },
  beforeCommit: () => void,
) {
  await inTransaction(database, async (tx) => {
    expect(await storeInTransaction(tx, owner, createEvents(1))).toBe(1);
    beforeCommit();
    await delay(COMMIT_DELAY_MS);
  });
}

test('deletes events that are being stored when their subscription is deleted', async () => {
  const { key, owner } = await createSubscription();
  await prisma.objectSubscription.updateMany({
    where: key,
    data: { isWanted: false, dueTime: services.now() },
  });
  const claim = await claimSubscription(key);
  await prisma.objectSubscription.updateMany({ where: key, data: { isWanted: true } });
  let ending: Promise<void> | undefined;
  await storeEvent(owner, () => {
    ending = prisma.objectSubscription
      .updateMany({ where: key, data: { isWanted: false } })
      .then(() => deleteClaimedSubscription(services, claim));
  });
  await ending;
  expect(await prisma.objectSubscription.count({ where: key })).toBe(0);
  expect(await prisma.providerEvent.count({ where: key })).toBe(0);
});

test('deletes the events of an erased subscription, and stores none afterwards', async () => {
  const { key, owner, erasure } = await createSubscription();
  let ending: Promise<boolean> | undefined;
  await storeEvent(owner, () => {
    ending = endSubscriptions(services, erasure);
  });
  expect(await ending).toBe(true);
  expect(await storeInOwnTransaction(services, owner, createEvents(1))).toBe(0);
  expect(await prisma.providerEvent.count({ where: key })).toBe(0);
});

test.skipIf(isEmbedded)(
  'stores and claims events while another transaction stores events',
  async () => {
    const { key, owner } = await createSubscription();
    await storeInOwnTransaction(services, owner, createEvents(1));
    let concurrent: Promise<unknown> | undefined;
    const completedWork: string[] = [];
    await storeEvent(owner, () => {
      concurrent = (async () => {
        await storeInOwnTransaction(services, owner, createEvents(1));
        completedWork.push('stored');
        const claims = await claimSubscriptionsWithEvents(services, 16);
        completedWork.push(...claims.map(({ installationId }) => installationId));
      })();
    });
    expect(completedWork).toEqual(['stored', key.installationId]);
    await concurrent;
  },
);

/** Returns services whose process seems to stop after two batches of events. */
const createStoppingServices = () => {
  let batches = 0;
  const run: RunStatement = async (statement, input) => {
    if (statement.text.includes('delete from "ProviderEvent"') && ++batches > 2)
      throw new Error('The process has stopped.');
    return database.run(statement, input);
  };
  return { ...services, database: { ...database, run } };
};

test(
  'deletes many events in batches, and continues if a process ends between two batches',
  { tags: ['all/rows'] },
  async () => {
    const { key, owner, erasure } = await createSubscription();
    await storeInOwnTransaction(services, owner, createEvents(4_500));
    const listRemaining = async () => [
      await prisma.objectSubscription.count({ where: key }),
      await prisma.providerEvent.count({ where: key }),
    ];
    await expect(endSubscriptions(createStoppingServices(), erasure)).rejects.toThrow(
      'The process has stopped.',
    );
    expect(await listRemaining()).toEqual([1, 2_500]);
    await prisma.objectSubscription.updateMany({ where: key, data: { dueTime: services.now() } });
    const claim = await claimSubscription(key);
    await expect(deleteClaimedSubscription(createStoppingServices(), claim)).rejects.toThrow(
      'The process has stopped.',
    );
    expect(await listRemaining()).toEqual([1, 500]);
    await deleteClaimedSubscription(services, claim);
    expect(await listRemaining()).toEqual([0, 0]);
  },
);
