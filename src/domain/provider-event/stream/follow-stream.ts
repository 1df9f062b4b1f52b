/**
 * Follows the event streams and lists of connections. One worker at a time follows each, and stores the events together
 * with the position after them.
 */
import type { Client } from '@grpc/grpc-js';
import { unprocessable } from '../../../errors.ts';
import { OutboundError } from '../../../outbound/outbound-error.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { LeaseLost, RELEASED_LEASE } from '../../../work/lease.ts';
import { runClaims } from '../../../work/run-items.ts';
import type { Services } from '../../call.ts';
import { openSession } from '../../connection/connection-session.ts';
import { findVariable } from '../../connection/session/account-address.ts';
import { waitForCapacity } from '../event-backlog.ts';
import { readList } from './read-list.ts';
import {
  claimStreams,
  type FollowedStream,
  type ProviderStream,
  recordLostPosition,
  recordStreamFailure,
  recordStreamOpen,
  STREAM_LEASES,
  storeBatch,
} from './stream-state.ts';

/** The maximum number of streams that one process follows. */
const STREAMS_MAX = 1_000;
/** Small claims distribute the streams over processes that poll at the same time. */
const CLAIM_BATCH = 10;
/** The interval between polls for more streams while some are followed. */
const POLL_MS = 2_000;
/** An end without events counts as a failure, so that the stream is not reopened in a loop without a delay. */
const ENDED_EMPTY = 'The provider ended its stream before it sent anything.';

/** Claims streams and follows them. Returns when no stream is left to follow. */
export async function followStreams(services: Services, signal: AbortSignal): Promise<void> {
  await runClaims({
    claim: (followedCount) => claimNextStreams(services, followedCount, signal),
    work: (stream) => followStream(services, stream, signal),
    pollMs: POLL_MS,
  });
}

/** Claims streams. While streams are followed, ignores a database outage: they detect it when they store events. */
async function claimNextStreams(
  services: Services,
  followedCount: number,
  signal: AbortSignal,
): Promise<ProviderStream[]> {
  const countMax = signal.aborted ? 0 : Math.min(STREAMS_MAX - followedCount, CLAIM_BATCH);
  if (countMax <= 0) return [];
  return claimStreams(services, countMax).catch((error: unknown) => {
    if (followedCount === 0) throw error;
    return [];
  });
}

/** Follows a stream until it fails, ends or is no longer needed, and releases the lease. Never throws. */
async function followStream(
  services: Services,
  stream: ProviderStream,
  stopSignal: AbortSignal,
): Promise<void> {
  const lostLease = new AbortController();
  using _lease = STREAM_LEASES.keepRenewing(services, stream, {
    notRenewed: 'provider_stream.lease_not_renewed',
    onLost: () => lostLease.abort(),
  });
  const signal = AbortSignal.any([stopSignal, lostLease.signal]);
  try {
    const capability = services.catalog.find(stream.provider)?.capabilities.subscribe;
    const { list } = capability ?? {};
    if (capability && list) return await readList(services, { stream, capability, list, signal });
    await storeEvents(services, stream, signal);
    await STREAM_LEASES.updateClaimed(
      services.database.prisma.providerStream,
      stream,
      RELEASED_LEASE,
    );
  } catch (error) {
    if (error instanceof LeaseLost) return;
    await recordStreamFailure(services, stream, error).catch((failure: unknown) => {
      if (failure instanceof LeaseLost) return;
      services.log.warn({ err: failure }, 'provider_stream.failure_not_recorded');
    });
  }
}

async function storeEvents(
  services: Services,
  stream: ProviderStream,
  signal: AbortSignal,
): Promise<void> {
  const source = await loadFollowedStream(services, stream);
  const client = await connect(services, source);
  let hasRecovered = false;
  const onStored = () => {
    hasRecovered = false;
  };
  try {
    while (!signal.aborted) {
      try {
        return await storeBatches(services, source, { client, signal, onStored });
      } catch (error) {
        if (hasRecovered) throw error;
        await recover(services, source, error);
        hasRecovered = true;
      }
    }
  } finally {
    client.close();
  }
}

interface OpenStream {
  client: Client;
  signal: AbortSignal;
}

async function storeBatches(
  services: Services,
  source: FollowedStream,
  { client, signal, onStored }: OpenStream & { onStored: () => void },
): Promise<void> {
  let isEmpty = true;
  for await (const batch of openBatches(services, source, { client, signal })) {
    await storeBatch(services, source, batch);
    isEmpty = false;
    onStored();
    await waitForCapacity(services, source, signal);
  }
  if (isEmpty && !signal.aborted) throw new ProviderError('DISCONNECTED', ENDED_EMPTY);
}

async function* openBatches(
  services: Services,
  source: FollowedStream,
  { client, signal }: OpenStream,
) {
  const { stream, capability, session, account, accessToken } = source;
  const { position } = stream;
  // Closes the stream when this attempt ends, whatever its outcome.
  const attempt = new AbortController();
  const closing = AbortSignal.any([signal, attempt.signal]);
  try {
    const options = { account, position, accessToken, client, signal: closing };
    const batches = await capability.open(session, options);
    await recordStreamOpen(services, source);
    yield* batches;
  } finally {
    attempt.abort();
  }
}

/** Recovers from a rejected token or a lost position. Rethrows all other errors. */
async function recover(services: Services, source: FollowedStream, error: unknown): Promise<void> {
  const kind = error instanceof ProviderError ? error.kind : null;
  if (kind === 'AUTH_INVALIDATED') {
    source.accessToken = await source.session.getAccessToken(source.accessToken);
  } else if (kind === 'CURSOR_GONE' && source.stream.position !== null) {
    await recordLostPosition(services, source);
  } else throw error;
}

/** Opens a session for the stream. Throws UNPROCESSABLE or ProviderError. */
async function loadFollowedStream(
  services: Services,
  stream: ProviderStream,
): Promise<FollowedStream> {
  const { projectId, connectionId: id, provider } = stream;
  const capability = services.catalog.find(provider)?.capabilities.subscribe;
  if (!capability?.stream) throw unprocessable(`${provider} no longer streams events.`);
  const connection = await services.database.prisma.connection.findUniqueOrThrow({
    where: { projectId_id: { projectId, id } },
    omit: { credentialsSealed: true },
  });
  const account = capability.findAccount(connection, (name) => findVariable(name, connection));
  if (account === null) throw unprocessable('The account of the connection is unknown.');
  const session = openSession(services, connection);
  const accessToken = await session.getAccessToken();
  const { listDeletions } = capability.stream;
  const source = { stream, session, account, listDeletions, appIds: [] };
  return { ...source, capability: capability.stream, accessToken };
}

async function connect(
  { providerAccess }: Services,
  { capability }: Pick<FollowedStream, 'capability'>,
): Promise<Client> {
  return providerAccess.outbound.openGrpc(capability.url).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error;
    const kind = error.kind === 'REFUSED_ADDRESS' ? 'BAD_REQUEST' : 'UNREACHABLE';
    throw new ProviderError(kind, error.message);
  });
}
