/**
 * One connection's list of changes, by the worker that holds it: read when the provider says that there are some, and
 * once in a while in any case. Each part is stored together with the place after it.
 */
import { inTransaction } from '../../../database/transaction.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { EventList, ListPart, SubscribeCapability } from '../../../providers/subscribing.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { RELEASED_LEASE, requireLease } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { partiesOf } from '../subscription-parties.ts';
import { addressedTo } from '../subscription-secret.ts';
import { webhookUrlOf } from '../webhook-secret.ts';
import type { FollowedList } from './followed.ts';
import { sinceKnown } from './missed-changes.ts';
import { storeBatch } from './store-batch.ts';
import { type ProviderStream, STREAMS } from './stream-lease.ts';
import { keepPing } from './stream-ping.ts';
import { noteLostPosition, noteOpen } from './stream-state.ts';
import { waitForCapacity } from './wait-for-capacity.ts';

/** Between looks without a ping: one that was lost, or that the provider has stopped, delays changes so long. */
const POLL_MS = HOUR_MS;

export interface ToRead {
  stream: ProviderStream;
  capability: SubscribeCapability;
  list: EventList;
  signal: AbortSignal;
}

/** Reads it to its end and gives it back. Throws LeaseLost, UNPROCESSABLE or ProviderError. */
export async function readList(services: Services, toRead: ToRead): Promise<void> {
  const { stream, signal } = toRead;
  const followed = await followedOf(services, toRead);
  const refused = await readUnlessGone(services, followed, signal);
  const isChecked = refused === null && !isCheckDue(services, followed);
  if (!isChecked && !signal.aborted) {
    if (!(await isStillTold(services, followed))) {
      await makeAnew(services, followed);
      await readAll(services, followed, signal);
    } else if (refused) throw refused;
  }
  await giveBack(services, stream, signal);
}

async function followedOf(
  services: Services,
  { stream, capability, list }: ToRead,
): Promise<FollowedList> {
  const { projectId, connectionId: id } = stream;
  const { session, app, account } = await partiesOf(services, stream, capability);
  const where = { projectId_id: { projectId, id } };
  const ping = await services.database.prisma.streamPing.findUnique({ where });
  const address = addressedTo(webhookUrlOf(services, app), id);
  return { stream, session, account, deletions: null, apps: [], list, address, ping };
}

/** What the provider says if it does not know the list any more, or no longer shows it. */
async function readUnlessGone(
  services: Services,
  followed: FollowedList,
  signal: AbortSignal,
): Promise<ProviderError | null> {
  try {
    await readAll(services, followed, signal);
    return null;
  } catch (error) {
    const kind = error instanceof ProviderError ? error.kind : null;
    if (kind !== 'MISSING_OBJECT' && kind !== 'FORBIDDEN') throw error;
    return error as ProviderError;
  }
}

async function readAll(
  services: Services,
  followed: FollowedList,
  signal: AbortSignal,
): Promise<void> {
  const { stream, ping } = followed;
  if (!ping) return;
  for (let hasMore = true; hasMore && !signal.aborted; ) {
    const part = await readPart(services, followed, ping.providerRef);
    if (stream.status !== 'ACTIVE' || stream.position === null || stream.failures > 0) {
      await noteOpen(services, followed);
      stream.status = 'ACTIVE';
    }
    const { knownTime } = stream;
    const { incompleteUntil: until } = part;
    const gaps =
      knownTime && until ? [{ objectName: null, since: sinceKnown(knownTime), until }] : [];
    // Nothing is known of a time in which nothing is told: the list may have ended.
    const lastTime = part.lastTime ?? knownTime;
    await storeBatch(services, followed, { ...part, lastTime, gaps });
    hasMore = part.hasMore;
    if (hasMore) await waitForCapacity(services, followed, signal);
  }
}

async function readPart(
  services: Services,
  followed: FollowedList,
  providerRef: string,
): Promise<ListPart> {
  const { list, session, account, stream } = followed;
  const read = () => list.read(session, { account, providerRef, position: stream.position });
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof ProviderError && error.kind === 'CURSOR_GONE';
    if (!isGone || stream.position === null) throw error;
    await noteLostPosition(services, followed);
    return read();
  }
}

function isCheckDue({ now }: Pick<Services, 'now'>, { ping, address }: FollowedList): boolean {
  return !ping || ping.address !== address || ping.checkTime <= now();
}

/** False if nothing tells of changes at the address: it is gone, has ended, or tells it elsewhere. */
async function isStillTold(services: Services, followed: FollowedList): Promise<boolean> {
  const { stream, list, session, ping, address } = followed;
  if (!ping || ping.address !== address) return false;
  if (!(await list.renew(session, ping.providerRef))) return false;
  const { projectId, connectionId: id } = stream;
  const where = { projectId, id, providerRef: ping.providerRef };
  const data = { checkTime: nextPoll(services) };
  await services.database.prisma.streamPing.updateMany({ where, data });
  return true;
}

/** What has changed since the last change that was told is read in other ways. Throws LeaseLost. */
async function makeAnew(services: Services, followed: FollowedList): Promise<void> {
  const { stream, list, session, address, ping: old } = followed;
  const made = await list.setUp(session, address);
  const begun = { position: null, failures: 0 };
  followed.ping = await inTransaction(services.database, async (tx) => {
    await STREAMS.change(tx.providerStream, stream, begun);
    return keepPing(services, tx, stream, { ...made, address, checkTime: nextPoll(services) });
  });
  Object.assign(stream, begun);
  if (old === null || old.providerRef === made.providerRef) return;
  await list.takeDown(session, old.providerRef).catch((error: unknown) => {
    const { connectionId } = stream;
    const about = { err: error, connectionId, providerRef: old.providerRef };
    services.log.warn(about, 'subscription.old_not_taken_down');
  });
}

function nextPoll({ now }: Pick<Services, 'now'>): Date {
  return new Date(now().getTime() + POLL_MS);
}

/** What has come meanwhile makes it due at once. Throws LeaseLost. */
async function giveBack(
  services: Services,
  stream: ProviderStream,
  { aborted: isUnfinished }: AbortSignal,
): Promise<void> {
  const { providerStream } = services.database.prisma;
  if (!isUnfinished) {
    const where = { ...STREAMS.heldBy(stream), dueTime: stream.dueTime };
    const data = { dueTime: nextPoll(services), ...RELEASED_LEASE };
    const { count } = await providerStream.updateMany({ where, data });
    if (count > 0) return;
  }
  const { count } = await providerStream.updateMany({
    where: STREAMS.heldBy(stream),
    data: RELEASED_LEASE,
  });
  requireLease(count);
}
