/**
 * Follows the event streams and lists of connections. One worker at a time follows each, and stores the events together
 * with the position after them.
 */

import type { Client } from '@grpc/grpc-js';
import { LeaseLost, RELEASED_LEASE } from '../../../../database/leases/lease.ts';
import { listColumns } from '../../../../database/statements/tables.ts';
import { SUBSCRIPTIONS_CHANNEL } from '../../../../database/transactions/notification-channels.ts';
import { leasedWork } from '../../../../jobs/leased-work.ts';
import { unprocessable } from '../../../../kernel/errors.ts';
import { OutboundError } from '../../../../outbound/outbound-error.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { CoreServices, ProviderServices, RowServices } from '../../../access/call.ts';
import { findProviderOf } from '../../../access/catalog.ts';
import { openProviderSessionOf } from '../../../connections/connection/connection-session.ts';
import { findVariable } from '../../../connections/connection/session/account-address.ts';
import { waitForCapacity } from '../event-backlog.ts';
import type { FollowedProviderStream, ProviderStream } from './followed-account.ts';
import {
  claimProviderStreams,
  createProviderStreamDueTimeSql,
  PROVIDER_STREAM_LEASES,
  recordLostPosition,
  recordProviderStreamFailure,
  recordProviderStreamOpen,
  storeBatch,
} from './provider-stream-state.ts';
import { readList } from './read-list.ts';

/** An end without events counts as a failure, so that the stream is not reopened in a loop without a delay. */
const ENDED_EMPTY = 'The provider ended its stream before it sent anything.';

/** Streams and lists of changes that no process follows. */
export const providerStreams = leasedWork({
  kind: 'provider_stream',
  leases: PROVIDER_STREAM_LEASES,
  columns: listColumns('ProviderStream'),
  perProcess: 1_000,
  // Small claims distribute the streams over processes that claim at the same time.
  claimMax: 10,
  channel: SUBSCRIPTIONS_CHANNEL,
  claim: claimProviderStreams,
  createDueTimeSql: createProviderStreamDueTimeSql,
  run: followProviderStream,
});

/** Follows a stream until it fails, ends or is no longer needed, and releases the lease. */
async function followProviderStream(
  services: ProviderServices,
  stream: ProviderStream,
  signal: AbortSignal,
): Promise<void> {
  try {
    const provider = await findProviderOf(services, stream);
    const capability = provider?.capabilities.subscribe;
    const { list } = capability ?? {};
    if (capability && list) return await readList(services, { stream, capability, list, signal });
    await storeEvents(services, stream, signal);
    await PROVIDER_STREAM_LEASES.updateClaimed(
      services.database.prisma.providerStream,
      stream,
      RELEASED_LEASE,
    );
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    await recordProviderStreamFailure(services, stream, error);
  }
}

async function storeEvents(
  services: ProviderServices,
  stream: ProviderStream,
  signal: AbortSignal,
): Promise<void> {
  const source = await loadFollowedProviderStream(services, stream);
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

interface OpenProviderStream {
  client: Client;
  signal: AbortSignal;
}

async function storeBatches(
  services: ProviderServices,
  source: FollowedProviderStream,
  { client, signal, onStored }: OpenProviderStream & { onStored: () => void },
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
  services: RowServices,
  source: FollowedProviderStream,
  { client, signal }: OpenProviderStream,
) {
  const { stream, capability, session, account, accessToken } = source;
  const { position } = stream;
  // Closes the stream when this attempt ends, whatever its outcome.
  const attempt = new AbortController();
  const closing = AbortSignal.any([signal, attempt.signal]);
  try {
    const options = { account, position, accessToken, client, signal: closing };
    const batches = await capability.open(session, options);
    await recordProviderStreamOpen(services, source);
    yield* batches;
  } finally {
    attempt.abort();
  }
}

/** Recovers from a rejected token or a lost position. Rethrows all other errors. */
async function recover(
  services: CoreServices,
  source: FollowedProviderStream,
  error: unknown,
): Promise<void> {
  const kind = error instanceof ProviderError ? error.kind : null;
  if (kind === 'AUTH_INVALIDATED') {
    source.accessToken = await source.session.getAccessToken(source.accessToken);
  } else if (kind === 'CURSOR_GONE' && source.stream.position !== null) {
    await recordLostPosition(services, source);
  } else throw error;
}

/** Opens a session for the stream. Throws UNPROCESSABLE or ProviderError. */
async function loadFollowedProviderStream(
  services: ProviderServices,
  stream: ProviderStream,
): Promise<FollowedProviderStream> {
  const { projectId, connectionId: id } = stream;
  const provider = await findProviderOf(services, stream);
  const capability = provider?.capabilities.subscribe;
  if (!capability?.stream) throw unprocessable(`${stream.provider} no longer streams events.`);
  const connection = await services.database.prisma.connection.findUniqueOrThrow({
    where: { projectId_id: { projectId, id } },
    omit: { credentialsSealed: true },
  });
  const account = capability.findAccount(connection, (name) => findVariable(name, connection));
  if (account === null) throw unprocessable('The account of the connection is unknown.');
  const session = await openProviderSessionOf(services, connection);
  const accessToken = await session.getAccessToken();
  const { listDeletions } = capability.stream;
  const source = { stream, session, account, listDeletions, appIds: [] };
  return { ...source, capability: capability.stream, accessToken };
}

async function connect(
  { providerAccess }: ProviderServices,
  { capability }: Pick<FollowedProviderStream, 'capability'>,
): Promise<Client> {
  return providerAccess.outbound.openGrpc(capability.url).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error;
    const kind = error.kind === 'REFUSED_ADDRESS' ? 'BAD_REQUEST' : 'UNREACHABLE';
    throw new ProviderError(kind, error.message);
  });
}
