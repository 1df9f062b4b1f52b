/** Destinations receive messages (webhooks) or keep them to be read (streams). */

import { z } from 'zod';
import { Prisma } from '../../database/generated/client.ts';
import type { DestinationStatus, DestinationType } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import {
  hasSecret,
  newSigningSecret,
  rotateSecrets,
  SEALED_SECRETS,
  sealSigningSecret,
} from '../../deliveries/signing-secret.ts';
import { sealHeaders, sealUrl, type TargetHeaders } from '../../deliveries/target-secrets.ts';
import { invalid, notFound } from '../../errors.ts';
import { announceRecorded } from '../../events/channel.ts';
import { id, newId, prefixOf } from '../../ids.ts';
import type { Vault } from '../../secrets.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { projectRead, read } from '../declared-read.ts';
import { rules } from '../issues.ts';
import { destinationName, projectIdOrName } from '../names.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { pageOfSearch, type searchFilters } from '../paging/search.ts';
import { computed, createdInProject, enumeration, resource, updateTime } from '../resource.ts';
import { findInProject } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { releasePending } from './delivery.ts';
import { maskedTarget } from './destination-secret.ts';
import {
  brokenByType,
  brokenByUrl,
  openStream,
  refuseForStream,
  refuseHost,
} from './destination-type.ts';
import { refuseIfUsed } from './destination-uses.ts';
import { dropPending } from './dropped-deliveries.ts';
import { closeStream, removeStream } from './stream/stream-removal.ts';
import { HEADERS_MAX, headersToStore, targetHeaders } from './target-headers.ts';

type Destination = Row<'Destination'>;

const destinationType = enumeration('DestinationType', 'How a destination gets its messages.', {
  WEBHOOK: 'The gateway posts messages to its URL, signed as Standard Webhooks specifies.',
  STREAM:
    'The gateway keeps messages in the order of their commits. Clients read them with `messages`, or live with the ' +
    'subscription `streamMessages`.',
} satisfies Record<DestinationType, string>);

const destinationStatus = enumeration(
  'DestinationStatus',
  'Whether the gateway sends messages to a destination.',
  {
    ENABLED: 'Messages are sent. A stream is always enabled.',
    DISABLED: 'Messages stay pending. They are sent when the destination is enabled again.',
  } satisfies Record<DestinationStatus, string>,
);

export const destinationResource = resource(
  'Destination',
  'Receives messages: events that routes lead to it, and records that are read. The gateway posts them to a webhook; a stream keeps them.',
  {
    ...createdInProject,
    name: z.string().describe('Unique in the project: letters, digits and dashes.'),
    type: destinationType.describe('How it gets its messages.'),
    url: computed(
      z
        .string()
        .nullable()
        .describe(
          'The URL that messages are posted to, with `***` for each value of its query. Null for a stream.',
        ),
      (row: Destination) => maskedTarget(row).url,
    ),
    headers: computed(
      z
        .record(z.string(), z.unknown())
        .nullable()
        .describe(
          'HTTP headers of every message: `***` by name. Null without headers and for a stream.',
        ),
      (row: Destination) => maskedTarget(row).headers,
    ),
    status: destinationStatus.describe('Whether messages are sent to it.'),
    disabledReason: z.string().nullable().describe('Why it is disabled. Null if it is enabled.'),
    updateTime,
  },
);

const destinationId = id.describe('The id of the destination.');
const name = destinationName.describe('1 to 64 letters, digits and dashes; unique in the project.');
const url = z
  .string()
  .describe(
    'For a webhook: the URL that messages are posted to, at most 2048 characters, without user info and fragment. It ' +
      'must be https; http is allowed to an address that ALLOWED_PRIVATE_TARGETS of the server permits.',
  );
const headers = targetHeaders
  .nullish()
  .describe(
    'For a webhook: HTTP headers to send with every message, at most 20: values by name. Null removes them. Values are ' +
      'sealed, and shown only with the scope `credentials:read`; others see `***`, which is refused as a value.',
  );
const keepHeaders = z
  .array(z.string())
  .max(HEADERS_MAX)
  .optional()
  .describe(
    'Names of stored headers that keep their values: `headers` and these replace all headers. Without it, `headers` alone does. ' +
      'If `url` gets another host, values are kept only for callers with the scope `credentials:read`.',
  );

export const createDestinationInput = z
  .object({
    projectIdOrName,
    name,
    type: destinationType.describe('How it gets its messages.'),
    url: url.optional(),
    headers,
  })
  .superRefine(rules(brokenByType))
  .meta({ id: 'CreateDestinationInput', description: 'The destination to create.' });

export const updateDestinationInput = z
  .object({
    projectIdOrName,
    destinationId,
    name: name.optional(),
    url: url.optional(),
    headers,
    keepHeaders,
    status: destinationStatus
      .describe(
        'For a webhook: ENABLED sends its pending messages immediately, DISABLED keeps them pending.',
      )
      .optional(),
  })
  .superRefine(rules(brokenByUrl))
  .meta({
    id: 'UpdateDestinationInput',
    description: 'The new values of a destination. A field that is left out stays as it is.',
  });

export const rotateDestinationSecretInput = z.object({ projectIdOrName, destinationId }).meta({
  id: 'RotateDestinationSecretInput',
  description: 'The destination that gets a new secret.',
});

export const deleteDestinationInput = z
  .object({ projectIdOrName, destinationId })
  .meta({ id: 'DeleteDestinationInput', description: 'The destination to delete.' });

export const listDestinations = read(
  'read',
  'Lists destinations, newest first.',
  (call: Call, project: Row<'Project'>, args: PageArgs & FiltersOf<typeof searchFilters>) => {
    const list = {
      name: 'Project.destinations',
      parentId: project.id,
      table: 'Destination',
    } as const;
    const listAll = () => listPage(call, { ...list, where: { projectId: project.id } }, args);
    return pageOfSearch(call, list, args, listAll);
  },
);

/** Returns the project's destination of that id or name, or null. */
export async function findDestination(
  call: Call,
  { projectId, idOrName }: { projectId: string; idOrName: string },
): Promise<Destination | null> {
  const named = prefixOf(idOrName) === 'dst' ? { id: idOrName } : { name: idOrName };
  const [found] = await findInProject(call, 'Destination', { projectId, ...named });
  return found ?? null;
}

/** Returns a destination by its id or its name. Throws NOT_FOUND. */
export const getDestination = projectRead(
  'read',
  async (
    call,
    { destination }: { destination: string },
    { id: projectId },
  ): Promise<Destination> => {
    const found = await findDestination(call, { projectId, idOrName: destination });
    if (!found) throw notFound('Destination', destination);
    return found;
  },
);

/**
 * Creates a destination. The result contains its secret in clear; later, only callers with the scope credentials:read
 * can read it. A stream has no secret.
 */
export const createDestination = projectMutation({
  description:
    'Creates a destination: a webhook that is sent messages, or a stream that keeps them. Routes lead events to it, integrations name it for records.',
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

/** A stream needs a transaction. Throws BAD_USER_INPUT for a host that is not allowed, and CONFLICT for a taken name. */
export async function insertDestination(
  call: Call,
  client: Pick<Transaction, 'destination' | 'streamLog'>,
  { projectId, url, headers, ...input }: NewDestination,
): Promise<{ destination: Destination; signingSecret: string | null }> {
  refuseHost(call, { url });
  const owner = { id: newId('dst'), projectId };
  const signingSecret = input.type === 'STREAM' ? null : newSigningSecret();
  const data = {
    ...owner,
    ...input,
    ...targetColumns(call.vault, owner, { url, headers }),
    ...(signingSecret !== null && sealSigningSecret(call.vault, owner, signingSecret)),
  };
  if (input.type === 'STREAM') await openStream(client, owner);
  const created = client.destination.create({ data, omit: SEALED });
  return { destination: await uniquely(created, nameTaken(input.name)), signingSecret };
}

/** Updates a destination. Enabling a disabled one makes its pending deliveries due immediately. */
export const updateDestination = projectMutation({
  description: 'Changes a destination. If it is enabled again, its pending messages are sent now.',
  needs: 'events:write',
  input: updateDestinationInput,
  run: (call, input, { id: projectId }) => changeDestination(call, projectId, input),
});

async function changeDestination(
  call: Call,
  projectId: string,
  changes: DestinationChanges,
): Promise<Destination> {
  const change = inTransaction(call.database, (tx) =>
    reviseDestination(call, tx, { projectId, ...changes }),
  );
  const { destination, afterCommit } = await uniquely(change, nameTaken(changes.name ?? ''));
  await afterCommit();
  return destination;
}

type DestinationChanges = Omit<z.output<typeof updateDestinationInput>, 'projectIdOrName'>;

/** Changes a destination in a transaction. Call `afterCommit` afterwards. */
export async function reviseDestination(
  call: Call,
  tx: Transaction,
  { projectId, destinationId, ...changes }: DestinationChanges & { projectId: string },
): Promise<{ destination: Destination; afterCommit: () => Promise<void> }> {
  refuseHost(call, changes);
  const now = call.now();
  const stored = await lockDestination(tx, projectId, destinationId);
  refuseForStream(stored, changes);
  if (changes.name !== undefined && changes.name !== stored.name) await refuseIfUsed(tx, stored);
  const isEnabled = changes.status === 'ENABLED' && stored.status === 'DISABLED';
  if (isEnabled) announceRecorded(tx, projectId);
  const { name, url } = changes;
  const headers = headersToStore(call, stored, changes);
  const target = targetColumns(call.vault, stored, { url, headers });
  const data = { name, ...target, ...statusChange(stored, changes.status), updateTime: now };
  const destination = await tx.destination.update({
    where: { projectId_id: { projectId, id: stored.id } },
    data,
    omit: SEALED,
  });
  const afterCommit = async () => {
    if (isEnabled) await releasePending(call.database, destination, now);
  };
  return { destination, afterCommit };
}

/** Replaces the signing secret. The previous one also signs for 24 hours. Throws BAD_USER_INPUT for a stream. */
export const rotateDestinationSecret = projectMutation({
  description: 'Gives a destination a new secret. For 24 hours the previous one signs too.',
  needs: 'events:write',
  input: rotateDestinationSecretInput,
  async run(
    call,
    input,
    { id: projectId },
  ): Promise<{ destination: Destination; signingSecret: string }> {
    const now = call.now();
    const signingSecret = newSigningSecret();
    const destination = await inTransaction(call.database, async (tx) => {
      const { id } = await lockDestination(tx, projectId, input.destinationId);
      const where = { projectId_id: { projectId, id } };
      const sealed = await tx.destination.findUniqueOrThrow({ where, select: SEALED_SECRETS });
      if (!hasSecret(sealed)) {
        throw invalid('input.destinationId', 'is a stream: it has no secret.', id);
      }
      const secrets = rotateSecrets(call.vault, sealed, { secret: signingSecret, now });
      const data = { ...secrets, updateTime: now };
      return tx.destination.update({ where, data, omit: SEALED });
    });
    return { destination, signingSecret };
  },
});

/**
 * Deletes a destination with its routes. Its pending deliveries fail, and a stream's messages are deleted. If there are
 * many, a sweep completes the work.
 */
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

/** Deletes a destination in a transaction. Returns a function to call after the commit; a sweep replaces a lost call. */
export async function removeDestination(
  call: Call,
  tx: Transaction,
  deleted: { projectId: string; destinationId: string },
): Promise<() => Promise<unknown>> {
  const { projectId, destinationId } = deleted;
  const stored = await lockDestination(tx, projectId, destinationId);
  await refuseIfUsed(tx, stored);
  await tx.destination.delete({ where: { projectId_id: { projectId, id: stored.id } } });
  if (stored.type === 'STREAM') {
    await closeStream(tx, deleted);
    return () => removeStream(call, deleted);
  }
  const dropping = { now: call.now(), countMax: DELETION_DROPS_MAX };
  return () => dropPending(call.database, deleted, dropping);
}

/** The most deliveries that fail while the caller of a deletion waits. A sweep fails the rest. */
const DELETION_DROPS_MAX = 10_000;
const SEALED = {
  signingSecretSealed: true,
  previousSecretSealed: true,
  urlSealed: true,
  headersSealed: true,
} as const;

/** The columns of a URL and headers. Undefined leaves them unchanged. */
function targetColumns(
  vault: Vault,
  owner: Pick<Destination, 'id' | 'projectId'>,
  { url, headers }: { url?: string | undefined; headers?: TargetHeaders | null | undefined },
) {
  const sealed = headers === undefined ? null : sealHeaders(vault, owner, headers);
  return {
    ...(url !== undefined && sealUrl(vault, owner, url)),
    ...(sealed && { ...sealed, maskedHeaders: sealed.maskedHeaders ?? Prisma.DbNull }),
  };
}

/** Locks the row until the end of the transaction, so that changes of one destination run one after another. */
async function lockDestination(tx: Transaction, projectId: string, destinationId: string) {
  const [stored] = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select(['id', 'projectId', 'name', 'type', 'status', 'url', 'urlSealed'])
      .select(['maskedHeaders', 'headersSealed'])
      .where('id', '=', destinationId)
      .where('projectId', '=', projectId)
      .forUpdate(),
  );
  if (!stored) throw notFound('Destination', destinationId);
  return stored;
}

function statusChange(stored: Pick<Destination, 'status'>, status: DestinationStatus | undefined) {
  if (status === undefined || status === stored.status) return {};
  return status === 'DISABLED'
    ? { status, disabledReason: 'Disabled by a caller.' }
    : { status, disabledReason: null, failingSince: null, failedAttempts: 0 };
}

function nameTaken(name: string): string {
  return `The project already has a destination named ${name}.`;
}
