/** Destinations receive messages (webhooks) or keep them to be read (streams). */
import type { z } from 'zod';
import { Prisma } from '../../database/generated/client.ts';
import type { DestinationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import {
  createSigningSecret,
  hasSecret,
  rotateSecrets,
  sealSigningSecret,
} from '../../deliveries/signing-secret.ts';
import { sealHeaders, sealUrl, type TargetHeaders } from '../../deliveries/target-secrets.ts';
import { notifyEvents } from '../../events/channel.ts';
import { invalid, notFound } from '../../kernel/errors.ts';
import { findPrefix, newId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/secrets.ts';
import type { Call, RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectRead } from '../access/declared-read.ts';
import { lockRow, requireUnique } from '../access/row-changes.ts';
import { listVisibleRows } from '../access/scope.ts';
import { releasePendingDeliveries } from './delivery.ts';
import {
  createDestinationInput,
  deleteDestinationInput,
  rotateDestinationSecretInput,
  updateDestinationInput,
} from './destination-resource.ts';
import { requireAllowedHost, requireNoWebhookMembers } from './destination-rules.ts';
import { refuseIfUsed } from './destination-uses.ts';
import { dropPendingDeliveries } from './dropped-deliveries.ts';
import { closeStream, removeMessages } from './stream/stream-removal.ts';
import { mergeKeptHeaders } from './target-headers.ts';

type Destination = Row<'Destination'>;

/** Limits how long the caller of a deletion waits. Upkeep fails the remaining deliveries. */
const DELETION_DROPS_MAX = 10_000;
const SEALED_COLUMNS = {
  signingSecretSealed: true,
  previousSecretSealed: true,
  urlSealed: true,
  headersSealed: true,
} as const;

/** Returns the project's destination of that id or name, or null. */
export async function findDestination(
  call: RowCall,
  { projectId, idOrName }: { projectId: string; idOrName: string },
): Promise<Destination | null> {
  const key = findPrefix(idOrName) === 'dst' ? { id: idOrName } : { name: idOrName };
  const [destination] = await listVisibleRows(call, 'Destination', { projectId, ...key });
  return destination ?? null;
}

/** Throws NOT_FOUND if the project has no such destination. */
export const getDestination = projectRead(
  'read',
  'Gets a destination by its id or name.',
  async (
    call,
    { destination }: { destination: string },
    { id: projectId },
  ): Promise<Destination> => {
    const row = await findDestination(call, { projectId, idOrName: destination });
    if (!row) throw notFound('Destination', destination);
    return row;
  },
);

export const createDestination = projectMutation({
  description:
    'Creates a destination: a webhook, to which messages are posted, or a stream, which stores them. Routes send events to it, and integrations name it for records. The response contains the secret of a webhook; later, only callers with the scope `credentials:read` can read it.',
  needs: 'events:write',
  input: createDestinationInput,
  run(call, { projectIdOrName: _project, ...input }, { id: projectId }) {
    return input.type === 'STREAM'
      ? inTransaction(call.database, (tx) => insertDestination(call, tx, { projectId, ...input }))
      : insertDestination(call, call.database.prisma, { projectId, ...input });
  },
});

type NewDestination = Omit<z.output<typeof createDestinationInput>, 'projectIdOrName'> & {
  projectId: string;
};

/**
 * For a stream, `client` must be a transaction. Throws BAD_USER_INPUT for a host that is not allowed, and CONFLICT for a
 * taken name.
 */
export async function insertDestination(
  call: Call,
  client: Pick<Transaction, 'destination' | 'streamLog'>,
  { projectId, url, headers, ...input }: NewDestination,
): Promise<{ destination: Destination; signingSecret: string | null }> {
  requireAllowedHost(call, { url });
  const owner = { id: newId('dst'), projectId };
  const signingSecret = input.type === 'STREAM' ? null : createSigningSecret();
  const data = {
    ...owner,
    ...input,
    ...createTargetColumns(call.vault, owner, { url, headers }),
    ...(signingSecret !== null && sealSigningSecret(call.vault, owner, signingSecret)),
  };
  if (input.type === 'STREAM') {
    await client.streamLog.create({ data: { projectId, destinationId: owner.id } });
  }
  const destination = client.destination.create({ data, omit: SEALED_COLUMNS });
  return {
    destination: await requireUnique(destination, describeTakenName(input.name)),
    signingSecret,
  };
}

export const updateDestination = projectMutation({
  description:
    'Updates a destination. If it is enabled again, its pending messages are sent immediately.',
  needs: 'events:write',
  input: updateDestinationInput,
  async run(
    call,
    { projectIdOrName: _project, ...changes },
    { id: projectId },
  ): Promise<Destination> {
    const change = inTransaction(call.database, (tx) =>
      reviseDestination(call, tx, { projectId, ...changes }),
    );
    const { destination, afterCommit } = await requireUnique(
      change,
      describeTakenName(changes.name ?? ''),
    );
    await afterCommit();
    return destination;
  },
});

type DestinationChanges = Omit<z.output<typeof updateDestinationInput>, 'projectIdOrName'>;

/** Updates a destination in a transaction. The caller must run `afterCommit` once the transaction has committed. */
export async function reviseDestination(
  call: Call,
  tx: Transaction,
  { projectId, destinationId, ...changes }: DestinationChanges & { projectId: string },
): Promise<{ destination: Destination; afterCommit: () => Promise<void> }> {
  requireAllowedHost(call, changes);
  const now = call.now();
  const oldDestination = await lockForUpdate(tx, projectId, destinationId);
  requireNoWebhookMembers(oldDestination, changes);
  const isRenamed = changes.name !== undefined && changes.name !== oldDestination.name;
  if (isRenamed) await refuseIfUsed(tx, oldDestination);
  const isReenabled = changes.status === 'ENABLED' && oldDestination.status === 'DISABLED';
  if (isReenabled) notifyEvents(tx, projectId);
  const {
    url,
    headers: _headers,
    keepHeaders: _keepHeaders,
    status: newStatus,
    ...members
  } = changes;
  const headers = mergeKeptHeaders(call, oldDestination, changes);
  const target = createTargetColumns(call.vault, oldDestination, { url, headers });
  const status = createStatusChange(oldDestination.status, newStatus);
  const destination = await tx.destination.update({
    where: { projectId_id: { projectId, id: oldDestination.id } },
    data: { ...members, ...target, ...status, updateTime: now },
    omit: SEALED_COLUMNS,
  });
  const afterCommit = async () => {
    if (isReenabled) await releasePendingDeliveries(call.database, destination, now);
  };
  return { destination, afterCommit };
}

/** Throws BAD_USER_INPUT for a stream. */
export const rotateDestinationSecret = projectMutation({
  description:
    'Rotates the secret of a webhook. For 24 hours, messages are signed with the previous secret too.',
  needs: 'events:write',
  input: rotateDestinationSecretInput,
  async run(
    call,
    input,
    { id: projectId },
  ): Promise<{ destination: Destination; signingSecret: string }> {
    const now = call.now();
    const signingSecret = createSigningSecret();
    const destination = await inTransaction(call.database, async (tx) => {
      const lockedDestination = await lockForUpdate(tx, projectId, input.destinationId);
      const { id } = lockedDestination;
      if (!hasSecret(lockedDestination)) {
        throw invalid(['destinationId'], 'is a stream, which has no secret.', id);
      }
      const secrets = rotateSecrets(call.vault, lockedDestination, { secret: signingSecret, now });
      const where = { projectId_id: { projectId, id } };
      const data = { ...secrets, updateTime: now };
      return tx.destination.update({ where, data, omit: SEALED_COLUMNS });
    });
    return { destination, signingSecret };
  },
});

/** If the destination has many deliveries or messages, upkeep completes the deletion. */
export const deleteDestination = projectMutation({
  description:
    'Deletes a destination and its routes. Its pending deliveries fail, and the messages of a stream are deleted.',
  needs: 'events:write',
  input: deleteDestinationInput,
  async run(call, { destinationId }, { id: projectId }): Promise<{ deletedId: string }> {
    const afterCommit = await inTransaction(call.database, (tx) =>
      removeDestination(call, tx, { projectId, destinationId }),
    );
    await afterCommit();
    return { deletedId: destinationId };
  },
});

/**
 * Deletes a destination in a transaction. Returns a function that completes the deletion, to call after the commit. If the
 * process ends before the call, upkeep completes it.
 */
export async function removeDestination(
  call: Call,
  tx: Transaction,
  key: { projectId: string; destinationId: string },
): Promise<() => Promise<unknown>> {
  const { projectId, destinationId } = key;
  const destination = await lockForUpdate(tx, projectId, destinationId);
  await refuseIfUsed(tx, destination);
  await tx.destination.delete({ where: { projectId_id: { projectId, id: destinationId } } });
  if (destination.type === 'STREAM') {
    await closeStream(tx, key);
    return () => removeMessages(call, key);
  }
  const options = { now: call.now(), countMax: DELETION_DROPS_MAX };
  return () => dropPendingDeliveries(call.database, key, options);
}

/** Returns the columns of a URL and headers. An undefined value leaves its columns unchanged. */
function createTargetColumns(
  vault: Vault,
  owner: Pick<Destination, 'id' | 'projectId'>,
  { url, headers }: { url?: string | undefined; headers?: TargetHeaders | null | undefined },
) {
  const headerColumns = headers === undefined ? null : sealHeaders(vault, owner, headers);
  return {
    ...(url !== undefined && sealUrl(vault, owner, url)),
    ...(headerColumns && {
      ...headerColumns,
      maskedHeaders: headerColumns.maskedHeaders ?? Prisma.DbNull,
    }),
  };
}

/** Locks the row until the end of the transaction, so that changes to a destination run one after another. */
function lockForUpdate(tx: Transaction, projectId: string, id: string) {
  return lockRow(tx, 'Destination', { projectId, id, noun: 'Destination' });
}

function createStatusChange(oldStatus: DestinationStatus, status?: DestinationStatus) {
  if (status === undefined || status === oldStatus) return {};
  return status === 'DISABLED'
    ? { status, disabledReason: 'Disabled by a caller.' }
    : { status, disabledReason: null, failingSince: null, failedAttempts: 0 };
}

function describeTakenName(name: string): string {
  return `The project already has a destination named ${name}.`;
}
