/** Making connections from credentials: one for each project, provider, group and consumer. */
import type { z } from 'zod';
import type { Prisma } from '../../database/generated/client.ts';
import type { Row } from '../../database/rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { type Issue, invalid } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import { subjectOf } from '../../events/subject.ts';
import { newId } from '../../ids.ts';
import { type AuthScheme, isConsentScheme } from '../../providers/contract.ts';
import type { Call, Services } from '../call.ts';
import { openProjectMutation } from '../declared-mutation.ts';
import { issueAt } from '../issues.ts';
import { putConsumer } from '../project/consumer.ts';
import { putGroup } from '../project/group.ts';
import { NOT_A_PROVIDER } from '../provider/catalogue.ts';
import { findGiven } from '../provider/provider.ts';
import { lockProviderApp } from '../provider/provider-app.ts';
import { workspaceIssues } from '../provider/provider-workspace.ts';
import { orEndUser } from '../viewer/needs.ts';
import { newCredentials } from './connection.ts';
import { connectionFields } from './connection-events.ts';
import { generateConnectionInput } from './connection-input.ts';
import { insertConnection } from './connection-insertion.ts';
import { type Choice, chooseScheme } from './connection-scheme.ts';
import { listForeignEnds } from './own-ends.ts';
import { givenWorkspace } from './session/account-address.ts';
import { inputIssues } from './session/connect-inputs.ts';
import { type MadeConnection, withCheckedCredentials } from './session/credential-check.ts';

type Given = z.input<typeof generateConnectionInput>;
type Input = z.output<typeof generateConnectionInput>;

export interface Generation {
  projectId: string;
  scheme: AuthScheme;
  /** Checked already. */
  input: Omit<Input, 'projectIdOrName'>;
  /** Whose account it is, if the provider has told. */
  providerConsumerRef?: string | null;
}

/** Connects with credentials that the caller has. */
export const generateConnection = openProjectMutation({
  needs: orEndUser('connections:write', 'CONNECT'),
  input: generateConnectionInput,
  async run(call, opened, { id: projectId }): Promise<Row<'Connection'>> {
    opened.add(await listForeignEnds(call, opened.given));
    if (call.viewer.kind === 'END_USER') opened.parsed();
    const { scheme, issues } = await findScheme(call, projectId, opened.given);
    const input = opened.parsed(issues);
    if (scheme === null) throw new Error('Why no scheme fits was not told.');
    return withCheckedCredentials(call, await makeConnection(call, { projectId, scheme, input }));
  },
});

/** Makes the connection, or replaces the credentials of the existing one; either way it is CREATED. */
export async function putConnection(
  services: Services,
  generation: Generation,
): Promise<Row<'Connection'>> {
  const { credentialsSealed: _, ...connection } = await makeConnection(services, generation);
  return connection;
}

/** The group and the consumer are made at their first use. */
async function makeConnection(services: Services, generation: Generation): Promise<MadeConnection> {
  const made = needsApp(generation) ? null : await insertConnection(services, generation);
  return made ?? replaceConnection(services, generation);
}

/** One transaction, whether the connection exists or not. */
function replaceConnection(services: Services, generation: Generation): Promise<Row<'Connection'>> {
  const { projectId, input } = generation;
  const now = services.now();
  return inTransaction(services.database, async (tx) => {
    const providerAppId = await appOf(tx, generation);
    const group = await putGroup(tx, { projectId, ...input }, now);
    const consumer = await putConsumer(tx, { projectId, ...input }, now);
    const { connection, isNew } = await putRow(services, tx, {
      ...generation,
      between: {
        projectId,
        provider: input.provider,
        groupId: group.id,
        consumerId: consumer.id,
      },
      providerAppId,
    });
    await recordEvent(tx, {
      projectId,
      connectionId: connection.id,
      eventType: isNew ? 'CONNECTION_CREATED' : 'CONNECTION_UPDATED',
      data: connectionFields({ ...connection, group, consumer }),
      subject: subjectOf(connection),
    });
    return connection;
  });
}

/** The scheme that fits, and what does not fit the provider or the project. */
async function findScheme(call: Call, projectId: string, input: Given): Promise<Choice> {
  const ofApp = await appIssues(call, projectId, input);
  const provider = await findGiven(call, input.provider);
  if (!provider) {
    const unknown = issueAt(['input', 'provider'], NOT_A_PROVIDER, input.provider);
    return { scheme: null, issues: [unknown, ...ofApp] };
  }
  const { scheme, issues } = chooseScheme(provider, input);
  const ofWorkspace = workspaceIssues(provider, givenWorkspace(input));
  return { scheme, issues: [...ofWorkspace, ...inputIssues(provider, input), ...issues, ...ofApp] };
}
async function appIssues(
  { database }: Call,
  projectId: string,
  { providerAppId, provider }: Given,
): Promise<Issue[]> {
  if (providerAppId == null) return [];
  const [app] = await database.rows.find('ProviderApp', { projectId, id: providerAppId });
  if (app?.provider === provider) return [];
  const detail = app ? `is an app of ${app.provider}, not of ${provider}.` : NO_SUCH_APP;
  return [{ in: 'body', name: 'input.providerAppId', detail, value: providerAppId }];
}
const NO_SUCH_APP = 'does not exist.';

function needsApp({ scheme, input }: Generation): boolean {
  return input.providerAppId != null || isConsentScheme(scheme);
}

async function appOf(tx: Transaction, generation: Generation): Promise<string | null> {
  const { projectId, input } = generation;
  const { provider, providerAppId } = input;
  if (!needsApp(generation)) return null;
  const locked = await lockProviderApp(tx, { projectId, provider, id: providerAppId });
  // It was there when the input was checked.
  if (providerAppId != null && !locked) {
    throw invalid('input.providerAppId', NO_SUCH_APP, providerAppId);
  }
  return locked;
}

interface ConnectionRow extends Generation {
  between: Prisma.ConnectionProjectIdProviderGroupIdConsumerIdCompoundUniqueInput;
  providerAppId: string | null;
}

async function putRow(
  services: Services,
  tx: Transaction,
  { between, providerAppId, scheme, input, providerConsumerRef = null }: ConnectionRow,
): Promise<{ connection: Row<'Connection'>; isNew: boolean }> {
  const owner = { projectId: between.projectId, provider: between.provider };
  const columns = (id: string) => ({
    providerAppId,
    authScheme: scheme,
    providerWorkspaceRef: givenWorkspace(input) ?? undefined,
    providerMetadata: input.providerMetadata ?? undefined,
    // The provider may not have told yet whose account they belong to.
    providerConsumerRef,
    ...newCredentials(services, { ...owner, id, authScheme: scheme }, input),
  });
  const omit = { credentialsSealed: true } as const;
  const id = newId('con');
  const updateTime = services.now();
  // With something to update, this is one INSERT ... ON CONFLICT: two at once make one row, and the
  // second waits for the first. Credentials are sealed for one id, so they follow when it is known.
  const connection = await tx.connection.upsert({
    where: { projectId_provider_groupId_consumerId: between },
    create: { id, ...between, ...columns(id) },
    update: { updateTime },
    omit,
  });
  if (connection.id === id) return { connection, isNew: true };
  const renewed = await tx.connection.update({
    where: { projectId_id: { projectId: between.projectId, id: connection.id } },
    data: columns(connection.id),
    omit,
  });
  return { connection: renewed, isNew: false };
}
