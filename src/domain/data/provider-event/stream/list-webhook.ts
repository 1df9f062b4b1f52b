/** The webhook that notifies the gateway of a connection's list. It is stored with its secret, which verifies each request. */

import { RELEASED_LEASE } from '../../../../database/leases/lease.ts';
import { sqlStatement } from '../../../../database/statements/statements.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { notifySubscriptions } from '../../../../events/channel.ts';
import type { SealedLocation } from '../../../../kernel/secrets.ts';
import type {
  CreatedWebhook,
  EventList,
  WebhookRequest,
} from '../../../../providers/subscribing.ts';
import type { RowServices, Services } from '../../../access/call.ts';
import type { AccountProviderSession } from '../../../connections/connection/connection-session.ts';
import { readIdFromAddress } from '../subscription-secret.ts';
import type { SealedApp } from '../webhook-secret.ts';
import type { ProviderStream } from './followed-account.ts';

export type ListWebhook = Row<'ListWebhook'>;
type ProviderStreamKey = Pick<ProviderStream, 'projectId' | 'connectionId'>;
type RemovedSubscription = ProviderStreamKey &
  Pick<Row<'ObjectSubscription'>, 'installationId' | 'objectName'>;

/** Replaces the stored webhook. Must run in a transaction that changes the claimed stream. */
export async function replaceListWebhook(
  { vault }: Pick<Services, 'vault'>,
  tx: Transaction,
  { projectId, connectionId: id }: ProviderStreamKey,
  { secret, ...columns }: CreatedWebhook & Pick<ListWebhook, 'address' | 'checkTime'>,
): Promise<ListWebhook> {
  const data = { ...columns, secretSealed: vault.seal(secret, toSealedLocation(id, projectId)) };
  return tx.listWebhook.upsert({
    where: { projectId_id: { projectId, id } },
    create: { id, projectId, ...data },
    update: data,
  });
}

interface AddressedWebhook {
  key: ProviderStreamKey;
  secret: string;
}

const SELECT_SECRET = sqlStatement<{ secretSealed: string }>(`
  select webhook."secretSealed" from "ListWebhook" webhook
  join "ProviderStream" stream on stream."projectId" = webhook."projectId" and stream."connectionId" = webhook."id"
  where webhook."projectId" = $1 and webhook."id" = $2 and stream."provider" = $3`);

/**
 * Returns null if the address names no webhook of the app's project. The query also runs without an app, so that the
 * response time does not reveal whether the app exists.
 */
export async function findListWebhook(
  { database, vault }: Pick<Services, 'database' | 'vault'>,
  app: Pick<SealedApp, 'provider' | 'projectId'> | null,
  { url }: Pick<WebhookRequest, 'url'>,
): Promise<AddressedWebhook | null> {
  const id = readIdFromAddress(url, 'con');
  const { projectId = '', provider = '' } = app ?? {};
  const [row] = await database.run(SELECT_SECRET, [projectId, id, provider]);
  if (!row) return null;
  const secret = vault.open(row.secretSealed, toSealedLocation(id, projectId));
  return { key: { projectId, connectionId: id }, secret };
}

/** Makes the list due immediately, even while a worker reads it. A failed list keeps its retry time. */
export async function scheduleListRead(
  { database, now }: RowServices,
  key: ProviderStreamKey,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const where = { ...key, failures: 0 };
    const { count } = await tx.providerStream.updateMany({ where, data: { dueTime: now() } });
    if (count > 0) notifySubscriptions(tx);
  });
}

/** Removes the webhook at the provider if only the removed subscription needed it. Throws ProviderError. */
export async function removeListWebhook(
  services: RowServices,
  list: EventList,
  { subscription, session }: { subscription: RemovedSubscription; session: AccountProviderSession },
): Promise<void> {
  const webhook = await findUnneededWebhook(services, subscription);
  if (!webhook) return;
  await list.deleteWebhook(session, webhook.providerRef);
  await deleteWebhookRow(services, webhook);
}

/** Deletes the row of the webhook after its removal at the provider has failed. Its later requests are refused. */
export async function deleteListWebhook(
  services: RowServices,
  subscription: RemovedSubscription,
): Promise<void> {
  const webhook = await findUnneededWebhook(services, subscription);
  if (webhook) await deleteWebhookRow(services, webhook);
}

async function findUnneededWebhook(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, connectionId, installationId, objectName }: RemovedSubscription,
): Promise<ListWebhook | null> {
  const NOT = { installationId, objectName };
  const otherSubscriptions = { projectId, connectionId, isWanted: true, NOT } as const;
  if (await prisma.objectSubscription.findFirst({ where: otherSubscriptions })) return null;
  const where = { projectId_id: { projectId, id: connectionId } };
  return prisma.listWebhook.findUnique({ where });
}

/**
 * Deletes the row and revokes the lease, so that a worker that reads the list stores nothing more. If the list is needed
 * again, it starts without a position.
 */
async function deleteWebhookRow(
  { database, now }: RowServices,
  { projectId, id, providerRef }: ListWebhook,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { count } = await tx.listWebhook.deleteMany({ where: { projectId, id, providerRef } });
    if (count === 0) return;
    const initialState = {
      status: 'PENDING',
      position: null,
      readUntil: null,
      failures: 0,
    } as const;
    await tx.providerStream.updateMany({
      where: { projectId, connectionId: id },
      data: { ...initialState, ...RELEASED_LEASE, dueTime: now() },
    });
    notifySubscriptions(tx);
  });
}

function toSealedLocation(row: string, projectId: string): SealedLocation {
  return { table: 'ListWebhook', column: 'secretSealed', row, projectId };
}
