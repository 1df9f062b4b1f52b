/** Destinations: where messages are sent. */

import { z } from 'zod';
import { DestinationStatus, DestinationType, Prisma } from '../../database/generated/client.ts';
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import {
  newSigningSecret,
  rotateSecrets,
  SEALED_SECRETS,
  sealSigningSecret,
} from '../../deliveries/signing-secret.ts';
import { conflict, invalidInput, notFound } from '../../errors.ts';
import { id, newId, prefixOf } from '../../ids.ts';
import type { Call } from '../call.ts';
import { openInput } from '../checked-input.ts';
import { projectRead, read } from '../declared-read.ts';
import { eventName, projectIdOrName } from '../names.ts';
import { listPage, type PageArgs } from '../page.ts';
import { getProject } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { dropPending, releasePending } from './delivery.ts';
import { destinationUses } from './destination-uses.ts';
import { targetHeaders } from './target-headers.ts';
import { targetUrl } from './target-url.ts';

type Destination = Row<'Destination'>;

const destinationId = id.describe('The destination.');
// The rules of these three are in rulesOf.
const name = z.string().describe('Letters, digits and dashes, 1 to 64; unique in the project.');
const url = z
  .string()
  .describe(
    'Where to post: https, or http to an address that ALLOWED_PRIVATE_TARGETS of the server permits; ' +
      'no user info, no fragment, at most 2048 characters.',
  );
const headers = z
  .record(z.string(), z.unknown())
  .nullish()
  .describe('Up to 20 HTTP headers to send with every message: text by name.');

export const createDestinationInput = z
  .object({
    projectIdOrName,
    name,
    type: z.enum(DestinationType).meta({ id: 'DestinationType', description: 'What it is.' }),
    url,
    headers,
  })
  .meta({ id: 'CreateDestinationInput', description: 'A destination to make.' });

export const updateDestinationInput = z
  .object({
    projectIdOrName,
    destinationId,
    name: name.optional(),
    url: url.optional(),
    headers,
    status: z
      .enum(DestinationStatus)
      .meta({ id: 'DestinationStatus', description: 'ENABLED sends what it is owed.' })
      .optional(),
  })
  .meta({ id: 'UpdateDestinationInput', description: 'What to change; what is left out stays.' });

export const rotateDestinationSecretInput = z
  .object({ projectIdOrName, destinationId })
  .meta({ id: 'RotateDestinationSecretInput', description: 'A destination to give a new secret.' });

export const deleteDestinationInput = z
  .object({ projectIdOrName, destinationId })
  .meta({ id: 'DeleteDestinationInput', description: 'A destination to delete.' });

export const listDestinations = read(
  'read',
  (call: Call, project: Row<'Project'>, args: PageArgs) => {
    const list = {
      name: 'Project.destinations',
      parentId: project.id,
      table: 'Destination',
    } as const;
    return listPage(call, { ...list, where: { projectId: project.id } }, args);
  },
);

/** By its id or its name. */
export const getDestination = projectRead(
  'read',
  async (
    call,
    { destination }: { destination: string },
    { id: projectId },
  ): Promise<Destination> => {
    const named = prefixOf(destination) === 'dst' ? { id: destination } : { name: destination };
    const [found] = await call.database.rows.find('Destination', { projectId, ...named });
    if (!found) throw notFound('Destination', destination);
    return found;
  },
);

/** The secret is in clear here and, later, only for callers with the scope credentials:read. */
export async function createDestination(
  call: Call,
  input: z.input<typeof createDestinationInput>,
): Promise<{ destination: Destination; signingSecret: string }> {
  const schema = createDestinationInput.extend(rulesOf(call));
  const { project, issues } = await openInput(call, { schema, input, needed: 'events:write' });
  if (issues.length > 0) throw invalidInput(issues);
  const { projectIdOrName: _project, ...given } = input;
  const { id: projectId } = project;
  const owner = { id: newId('dst'), projectId };
  const signingSecret = newSigningSecret();
  const data = {
    ...owner,
    ...given,
    headers: storedHeaders(given.headers),
    ...sealSigningSecret(call.vault, owner, signingSecret),
  };
  const made = call.database.prisma.destination.create({ data, omit: SEALED });
  return { destination: await uniquely(made, nameTaken(given.name)), signingSecret };
}

/** Enabling a disabled destination makes what it is owed due now. */
export async function updateDestination(
  call: Call,
  input: z.input<typeof updateDestinationInput>,
): Promise<Destination> {
  const { name, url, headers } = rulesOf(call);
  const rules = { name: name.optional(), url: url.optional(), headers };
  const schema = updateDestinationInput.extend(rules);
  const { project, issues } = await openInput(call, { schema, input, needed: 'events:write' });
  if (issues.length > 0) throw invalidInput(issues);
  return changeDestination(call, project.id, input);
}

async function changeDestination(
  call: Call,
  projectId: string,
  { destinationId, ...given }: Omit<z.input<typeof updateDestinationInput>, 'projectIdOrName'>,
): Promise<Destination> {
  const now = call.now();
  const change = inTransaction(call.database, async (tx) => {
    const known = await lockDestination(tx, projectId, destinationId);
    if (given.name !== undefined && given.name !== known.name) await refuseIfUsed(tx, known);
    const isEnabled = given.status === 'ENABLED' && known.status === 'DISABLED';
    if (isEnabled) await releasePending(tx, known.id, now);
    const { name, url } = given;
    const headers = storedHeaders(given.headers);
    const data = { name, url, headers, ...statusChange(known, given.status), updateTime: now };
    return tx.destination.update({ where: { id: known.id }, data, omit: SEALED });
  });
  return uniquely(change, nameTaken(given.name ?? ''));
}

/** The secret before signs beside the new one for a day. */
export async function rotateDestinationSecret(
  call: Call,
  input: z.output<typeof rotateDestinationSecretInput>,
): Promise<{ destination: Destination; signingSecret: string }> {
  const { id: projectId } = await getProject(call, input.projectIdOrName, 'events:write');
  const now = call.now();
  const signingSecret = newSigningSecret();
  const destination = await inTransaction(call.database, async (tx) => {
    const { id } = await lockDestination(tx, projectId, input.destinationId);
    const sealed = await tx.destination.findUniqueOrThrow({
      where: { id },
      select: SEALED_SECRETS,
    });
    const secrets = rotateSecrets(call.vault, sealed, { secret: signingSecret, now });
    const data = { ...secrets, updateTime: now };
    return tx.destination.update({ where: { id }, data, omit: SEALED });
  });
  return { destination, signingSecret };
}

/** Deletes its routes too; what it was still owed has failed. */
export async function deleteDestination(
  call: Call,
  input: z.output<typeof deleteDestinationInput>,
): Promise<{ deletedId: string }> {
  const { id: projectId } = await getProject(call, input.projectIdOrName, 'events:write');
  await inTransaction(call.database, async (tx) => {
    const known = await lockDestination(tx, projectId, input.destinationId);
    await refuseIfUsed(tx, known);
    await tx.destination.delete({ where: { id: known.id } });
    await dropPending(tx, known.id, { now: call.now(), reason: 'The destination was deleted.' });
  });
  return { deletedId: input.destinationId };
}

const SEALED = { signingSecretSealed: true, previousSecretSealed: true } as const;

/** What is allowed depends on the configuration. */
function rulesOf(call: Call) {
  return { name: eventName, url: targetUrl(call), headers: targetHeaders.nullish() };
}

function storedHeaders(headers: Record<string, unknown> | null | undefined) {
  return headers === null ? Prisma.DbNull : (headers as Prisma.InputJsonObject | undefined);
}

/** Holds the row to the end of the transaction, so that changes of one destination come one by one. */
async function lockDestination(tx: Transaction, projectId: string, destinationId: string) {
  const [known] = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select(['id', 'projectId', 'name', 'status'])
      .where('id', '=', destinationId)
      .where('projectId', '=', projectId)
      .forUpdate(),
  );
  if (!known) throw notFound('Destination', destinationId);
  return known;
}

async function refuseIfUsed(
  tx: Transaction,
  { projectId, name }: Pick<Destination, 'projectId' | 'name'>,
): Promise<void> {
  const uses = await destinationUses(tx, projectId, name);
  if (uses.length > 0) throw conflict(`The destination ${name} is named by ${uses.join(', ')}.`);
}

function statusChange(known: Pick<Destination, 'status'>, status: DestinationStatus | undefined) {
  if (status === undefined || status === known.status) return {};
  return status === 'DISABLED'
    ? { status, disabledReason: 'Disabled by a caller.' }
    : { status, disabledReason: null, failingSince: null, failedAttempts: 0 };
}

function nameTaken(name: string): string {
  return `The project already has a destination named ${name}.`;
}
