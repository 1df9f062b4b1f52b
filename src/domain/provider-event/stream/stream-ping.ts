/** What tells that a connection's list has something new: kept with its secret, asked who it is, and taken down. */
import type { Row } from '../../../database/rows.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { announceSubscriptions } from '../../../events/channel.ts';
import type { CreatedPing, EventList, WebhookRequest } from '../../../providers/subscribing.ts';
import type { SealedLocation } from '../../../secrets.ts';
import { RELEASED_LEASE } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import type { AccountSession } from '../../connection/connection-session.ts';
import { namedIn } from '../subscription-secret.ts';
import type { SealedApp } from '../webhook-secret.ts';
import type { ProviderStream } from './stream-lease.ts';

export type StreamPing = Row<'StreamPing'>;
type Key = Pick<ProviderStream, 'projectId' | 'connectionId'>;
type Going = Key & Pick<Row<'ObjectSubscription'>, 'installationId' | 'objectName'>;

/** In place of the one before. To be called with a change of the stream that names the claim. */
export async function keepPing(
  { vault }: Pick<Services, 'vault'>,
  tx: Transaction,
  { projectId, connectionId: id }: Key,
  { secret, ...made }: CreatedPing & Pick<StreamPing, 'address' | 'checkTime'>,
): Promise<StreamPing> {
  const data = { ...made, secretSealed: vault.seal(secret, placeOf(id, projectId)) };
  return tx.streamPing.upsert({
    where: { projectId_id: { projectId, id } },
    create: { id, projectId, ...data },
    update: data,
  });
}

interface Named {
  key: Key;
  secret: string;
}

/** Null if the address names none of the app's project. Without an app it looks too, so that its time doesn't tell. */
export async function findPing(
  { database, vault }: Pick<Services, 'database' | 'vault'>,
  app: Pick<SealedApp, 'provider' | 'projectId'> | null,
  { url }: Pick<WebhookRequest, 'url'>,
): Promise<Named | null> {
  const id = namedIn(url, 'con');
  const { projectId = '', provider = '' } = app ?? {};
  const [row] = await database.rows.query<{ secretSealed: string }>(PING, [
    projectId,
    id,
    provider,
  ]);
  if (!row) return null;
  const secret = vault.open(row.secretSealed, placeOf(id, projectId));
  return { key: { projectId, connectionId: id }, secret };
}

const PING = `
  select p."secretSealed" from "StreamPing" p
  join "ProviderStream" s on s."projectId" = p."projectId" and s."connectionId" = p."id"
  where p."projectId" = $1 and p."id" = $2 and s."provider" = $3`;

/** The list is read soon, also if somebody is reading it; one that has failed waits for its time. */
export async function readSoon({ database, now }: Services, key: Key): Promise<void> {
  await inTransaction(database, async (tx) => {
    const where = { ...key, failures: 0 };
    const { count } = await tx.providerStream.updateMany({ where, data: { dueTime: now() } });
    if (count > 0) announceSubscriptions(tx);
  });
}

/** Of a list that nobody wants beside the subscription that goes. Throws ProviderError. */
export async function removePing(
  services: Pick<Services, 'database' | 'now'>,
  list: EventList,
  { subscription, session }: { subscription: Going; session: AccountSession },
): Promise<void> {
  const ping = await findUnneeded(services, subscription);
  if (!ping) return;
  await list.takeDown(session, ping.providerRef);
  await forget(services, ping);
}

/** The same if the provider does not take it down: it tells nobody any more. */
export async function forgetPing(
  services: Pick<Services, 'database' | 'now'>,
  subscription: Going,
): Promise<void> {
  const ping = await findUnneeded(services, subscription);
  if (ping) await forget(services, ping);
}

async function findUnneeded(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, connectionId, installationId, objectName }: Going,
): Promise<StreamPing | null> {
  const NOT = { installationId, objectName };
  const others = { projectId, connectionId, isWanted: true, NOT } as const;
  if (await prisma.objectSubscription.findFirst({ where: others })) return null;
  const where = { projectId_id: { projectId, id: connectionId } };
  return prisma.streamPing.findUnique({ where });
}

/** Whoever reads the list stores nothing from now on. If it is wanted again meanwhile, it begins anew. */
async function forget(
  { database, now }: Pick<Services, 'database' | 'now'>,
  { projectId, id, providerRef }: StreamPing,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { count } = await tx.streamPing.deleteMany({ where: { projectId, id, providerRef } });
    if (count === 0) return;
    const begun = { status: 'PENDING', position: null, knownTime: null, failures: 0 } as const;
    await tx.providerStream.updateMany({
      where: { projectId, connectionId: id },
      data: { ...begun, ...RELEASED_LEASE, dueTime: now() },
    });
    announceSubscriptions(tx);
  });
}

function placeOf(row: string, projectId: string): SealedLocation {
  return { table: 'StreamPing', column: 'secretSealed', row, projectId };
}
