/**
 * The subscription to notifications ("pings") about a connection's list. It is stored with its secret, which verifies
 * each ping.
 */

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
import type { AccountSession } from '../../../connections/connection/connection-session.ts';
import { readIdFromAddress } from '../subscription-secret.ts';
import type { SealedApp } from '../webhook-secret.ts';
import type { ProviderStream } from './followed-source.ts';

export type StreamPing = Row<'StreamPing'>;
type StreamKey = Pick<ProviderStream, 'projectId' | 'connectionId'>;
type RemovedSubscription = StreamKey &
  Pick<Row<'ObjectSubscription'>, 'installationId' | 'objectName'>;

/** Replaces the stored ping. Must run in a transaction that changes the claimed stream. */
export async function replacePing(
  { vault }: Pick<Services, 'vault'>,
  tx: Transaction,
  { projectId, connectionId: id }: StreamKey,
  { secret, ...columns }: CreatedWebhook & Pick<StreamPing, 'address' | 'checkTime'>,
): Promise<StreamPing> {
  const data = { ...columns, secretSealed: vault.seal(secret, toSealedLocation(id, projectId)) };
  return tx.streamPing.upsert({
    where: { projectId_id: { projectId, id } },
    create: { id, projectId, ...data },
    update: data,
  });
}

interface AddressedPing {
  key: StreamKey;
  secret: string;
}

const SELECT_PING = sqlStatement<{ secretSealed: string }>(`
  select ping."secretSealed" from "StreamPing" ping
  join "ProviderStream" stream on stream."projectId" = ping."projectId" and stream."connectionId" = ping."id"
  where ping."projectId" = $1 and ping."id" = $2 and stream."provider" = $3`);

/**
 * Returns null if the address names no ping of the app's project. The query also runs without an app, so that the
 * response time does not reveal whether the app exists.
 */
export async function findPing(
  { database, vault }: Pick<Services, 'database' | 'vault'>,
  app: Pick<SealedApp, 'provider' | 'projectId'> | null,
  { url }: Pick<WebhookRequest, 'url'>,
): Promise<AddressedPing | null> {
  const id = readIdFromAddress(url, 'con');
  const { projectId = '', provider = '' } = app ?? {};
  const [row] = await database.run(SELECT_PING, [projectId, id, provider]);
  if (!row) return null;
  const secret = vault.open(row.secretSealed, toSealedLocation(id, projectId));
  return { key: { projectId, connectionId: id }, secret };
}

/** Makes the list due immediately, even while a worker reads it. A failed list keeps its retry time. */
export async function scheduleListRead(
  { database, now }: RowServices,
  key: StreamKey,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const where = { ...key, failures: 0 };
    const { count } = await tx.providerStream.updateMany({ where, data: { dueTime: now() } });
    if (count > 0) notifySubscriptions(tx);
  });
}

/** Removes the ping at the provider if only the removed subscription needed it. Throws ProviderError. */
export async function removePing(
  services: RowServices,
  list: EventList,
  { subscription, session }: { subscription: RemovedSubscription; session: AccountSession },
): Promise<void> {
  const ping = await findUnneededPing(services, subscription);
  if (!ping) return;
  await list.deleteWebhook(session, ping.providerRef);
  await deletePingRow(services, ping);
}

/** Deletes the row of the ping after its removal at the provider has failed. Later pings are refused. */
export async function deletePing(
  services: RowServices,
  subscription: RemovedSubscription,
): Promise<void> {
  const ping = await findUnneededPing(services, subscription);
  if (ping) await deletePingRow(services, ping);
}

async function findUnneededPing(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, connectionId, installationId, objectName }: RemovedSubscription,
): Promise<StreamPing | null> {
  const NOT = { installationId, objectName };
  const otherSubscriptions = { projectId, connectionId, isWanted: true, NOT } as const;
  if (await prisma.objectSubscription.findFirst({ where: otherSubscriptions })) return null;
  const where = { projectId_id: { projectId, id: connectionId } };
  return prisma.streamPing.findUnique({ where });
}

/**
 * Deletes the row and revokes the lease, so that a worker that reads the list stores nothing more. If the list is needed
 * again, it starts without a position.
 */
async function deletePingRow(
  { database, now }: RowServices,
  { projectId, id, providerRef }: StreamPing,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { count } = await tx.streamPing.deleteMany({ where: { projectId, id, providerRef } });
    if (count === 0) return;
    const initialState = {
      status: 'PENDING',
      position: null,
      knownTime: null,
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
  return { table: 'StreamPing', column: 'secretSealed', row, projectId };
}
