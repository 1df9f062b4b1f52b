/** Manages custom providers, which documents of the project describe. Only callers of the project see them. */

import { z } from 'zod';
import type { Prisma } from '../../../database/generated/client.ts';
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, invalid, unprocessable } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import { joinTexts, member, type Path, text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { ProviderDocument } from '../../../providers/document/provider-document.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { lockRow, requireUnique } from '../../access/row-changes.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orDefault } from '../../base/input-schemas.ts';
import { projectIdOrName } from '../../base/names.ts';
import { computed, createdInProject, resource, updateTime } from '../../base/resource.ts';
import {
  compileProvider,
  createCustomProvider,
  toDocumentRevision,
} from '../../connections/provider/compiled-provider.ts';
import type { Impact } from '../installation/check/impacts.ts';
import { findProviderImpacts, type ProviderImpacts } from './provider-impacts.ts';
import { suspendConnections } from './suspended-connections.ts';

export type CustomProvider = Row<'CustomProvider'>;

/** The maximum size of a document in bytes. The largest built-in declaration has a tenth of it. */
const PROVIDER_DOCUMENT_BYTES_MAX = 256 * 1024;
/** The maximum number of custom providers of a project. Each process keeps those of its projects in memory. */
export const CUSTOM_PROVIDERS_MAX = 50;
/** The maximum number of integrations that an error names. */
const NAMED_MAX = 20;

export const customProviderResource = resource(
  'CustomProvider',
  'A provider that a document of the project describes. Only the project has it. A connection, an integration or a provider app names it like any provider.',
  {
    ...createdInProject,
    name: z.string().describe('The name in inputs, like `x-acme`. It never changes.'),
    document: z.string().describe('The document as text, in YAML or JSON.'),
    revision: z
      .int()
      .describe('The version of the document, from 1. It increases with each change.'),
    problem: computed(
      z
        .string()
        .nullable()
        .describe(
          'The reason why this version of the gateway can no longer use the document. {Null} if it can. Its connections wait until the document is corrected.',
        ),
      findProblem,
    ),
    updateTime,
  },
);

/** Compiles the document only if the catalog has no provider of it, because a large one takes tens of milliseconds. */
async function findProblem(row: CustomProvider, call: Call): Promise<string | null> {
  const provider = await findProviderOfRow(call, row);
  if (provider?.document?.revision === toDocumentRevision(row)) return null;
  const compiled = compileProvider(row);
  return 'problem' in compiled ? compiled.problem : null;
}

const findProviderOfRow = (call: Call, { projectId, name }: CustomProvider) =>
  findProviderOf(call, { projectId, provider: name });

const document = z
  .string()
  .min(1)
  .max(PROVIDER_DOCUMENT_BYTES_MAX)
  .refine((text) => Buffer.byteLength(text) <= PROVIDER_DOCUMENT_BYTES_MAX, {
    error: `must have at most ${PROVIDER_DOCUMENT_BYTES_MAX} bytes.`,
  })
  .describe('The document of the provider as YAML or JSON text, at most 262,144 bytes.');

const customProviderId = id.describe('The id of the custom provider.');

export const createProviderInput = z
  .object({ projectIdOrName, document })
  .meta({ id: 'CreateProviderInput', description: 'The document of the provider to create.' });

const updateProviderInput = z
  .object({
    projectIdOrName,
    customProviderId,
    document,
    destructive: orDefault(z.boolean(), false).describe(
      'Applies if the change breaks integrations or installations, or if connections must be connected again. If true, the change is made. If false, it is refused with the reasons. Default: false.',
    ),
  })
  .meta({
    id: 'UpdateProviderInput',
    description:
      'The new document of a custom provider. It applies to all installations immediately.',
  });

const deleteProviderInput = z
  .object({ projectIdOrName, customProviderId })
  .meta({ id: 'DeleteProviderInput', description: 'The custom provider to delete.' });

export const listCustomProviders = read(
  'read',
  "Lists the project's custom providers, newest first.",
  (call: Call, { id: projectId }: Row<'Project'>, args: PageArgs) => {
    const list = {
      name: 'Project.customProviders',
      parentId: projectId,
      table: 'CustomProvider',
    } as const;
    return listPage(call, { ...list, where: { projectId } }, args);
  },
);

/** Throws NOT_FOUND if the project has no such custom provider. */
export const getCustomProvider = projectRead(
  'read',
  'Gets a custom provider with its document.',
  (call, key: { customProviderId: string }, { id: projectId }): Promise<CustomProvider> =>
    getRow(call, projectId, key.customProviderId),
);

/** Finds the provider that the document describes. Null if the document can no longer be used. */
export const findProviderOfDocument = read(
  'read',
  'The provider that the document describes. Null if the document can no longer be used.',
  findProviderOfRow,
);

function getRow(call: RowCall, projectId: string, rowId: string): Promise<CustomProvider> {
  return getProjectRow(call, 'CustomProvider', { projectId, id: rowId, noun: 'Custom provider' });
}

export const createProvider = projectMutation({
  description:
    'Creates a custom provider from a document. Its name begins with `x-`, and is unique in the project.',
  needs: 'providers:write',
  input: createProviderInput,
  async run(call, { document: text }, { id: projectId }): Promise<CustomProvider> {
    const content = await call.manifests.readProvider(projectId, text, ['document']);
    compileOrRefuse({ projectId, id: 'new', revision: 1 }, content);
    const created = await requireUnique(
      inTransaction(call.database, async (tx) => {
        await refuseTooMany(tx, projectId);
        return insertCustomProvider(tx, projectId, { text, content });
      }),
      `The project already has a custom provider named ${content.name}.`,
    );
    call.catalogs.forget(projectId);
    return created;
  },
});

interface NewDocument {
  text: string;
  /** The parsed text. */
  content: ProviderDocument;
}

/** The caller must check the content, and that the project has not too many custom providers. */
export function insertCustomProvider(
  tx: Transaction,
  projectId: string,
  { text, content }: NewDocument,
): Promise<CustomProvider> {
  const row = { id: newId('cpr'), projectId, name: content.name };
  return tx.customProvider.create({
    data: { ...row, revision: 1, document: text, content: toJson(content) },
  });
}

interface UpdatedProvider {
  customProvider: CustomProvider;
  impacts: Impact[];
  suspendedConnections: number;
}

/** Throws CONFLICT if the change breaks something, unless it is destructive. */
export const updateProvider = projectMutation({
  description:
    'Replaces the document of a custom provider. The new document applies to all installations immediately. If its hosts, token URLs or authorize URLs differ, the connections wait until they are connected again, because credentials are sent only to the addresses for which they were entered.',
  needs: 'providers:write',
  input: updateProviderInput,
  async run(call, input, { id: projectId }): Promise<UpdatedProvider> {
    const row = await getRow(call, projectId, input.customProviderId);
    const content = await call.manifests.readProvider(projectId, input.document, ['document']);
    if (content.name !== row.name) {
      const detail = `must have the name ${row.name}. Create another provider to use another name.`;
      throw invalid(['document'], detail, content.name);
    }
    const after = compileOrRefuse({ ...row, revision: row.revision + 1 }, content);
    const updated = await inTransaction(call.database, (tx) =>
      reviseProvider(call, tx, { projectId, input, content, after }),
    );
    call.catalogs.forget(projectId);
    return updated;
  },
});

interface RevisedProvider {
  projectId: string;
  input: z.output<typeof updateProviderInput>;
  content: ProviderDocument;
  /** The provider that the new document describes. */
  after: Provider;
}

async function reviseProvider(
  { now }: Pick<Call, 'now'>,
  tx: Transaction,
  { projectId, input, content, after }: RevisedProvider,
): Promise<UpdatedProvider> {
  const time = now();
  const key = { projectId, id: input.customProviderId };
  const stored = await lockRow(tx, 'CustomProvider', { ...key, noun: 'Custom provider' });
  const before = findUsableProvider(stored);
  const found = await findProviderImpacts(tx, { projectId, before, after });
  if (!input.destructive) refuseImpacts(found);
  const customProvider = await replaceDocument(tx, stored, {
    text: input.document,
    content,
    time,
  });
  await suspendConnections(tx, { projectId, provider: after, time });
  const { impacts, suspendedConnections } = found;
  return { customProvider, impacts, suspendedConnections };
}

/** Stores the next revision of a document. The caller must check it, and suspend connections if its addresses changed. */
export function replaceDocument(
  tx: Transaction,
  { projectId, id, revision }: CustomProvider,
  { text, content, time }: NewDocument & { time: Date },
): Promise<CustomProvider> {
  return tx.customProvider.update({
    where: { projectId_id: { projectId, id } },
    data: { document: text, content: toJson(content), revision: revision + 1, updateTime: time },
  });
}

/** Returns the provider that a stored document describes. Null if the document can no longer be used. */
export function findUsableProvider(row: CustomProvider): Provider | null {
  const compiled = compileProvider(row);
  return 'provider' in compiled ? compiled.provider : null;
}

/** Throws CONFLICT with the reasons if the change breaks something. */
function refuseImpacts({ impacts, brokenIntegrations, suspendedConnections }: ProviderImpacts) {
  const reasons = [
    ...(suspendedConnections > 0 ? [describeSuspended(suspendedConnections)] : []),
    ...brokenIntegrations.slice(0, NAMED_MAX),
    ...impacts.slice(0, NAMED_MAX).map(({ integrationName, path, reason, installations }) => {
      const head = `${integrationName}, ${installations.length} installations:`;
      return joinTexts(path === '' ? [head, reason] : [head, path, reason], ' ');
    }),
  ];
  if (reasons.length === 0) return;
  throw conflict(
    text`${joinTexts(reasons, ' ')} With ${member('destructive')}, the document is replaced.`,
  );
}

export function describeSuspended(count: number): string {
  return `${formatCount(count, 'connection')} must be connected again, because the new document sends credentials to other addresses.`;
}

export const deleteProvider = projectMutation({
  description: 'Deletes a custom provider that no integration, connection or provider app uses.',
  needs: 'providers:write',
  input: deleteProviderInput,
  async run(call, { customProviderId: rowId }, { id: projectId }): Promise<{ deletedId: string }> {
    await inTransaction(call.database, (tx) => removeCustomProvider(tx, { projectId, id: rowId }));
    call.catalogs.forget(projectId);
    return { deletedId: rowId };
  },
});

/** Throws CONFLICT if the custom provider is used. */
export async function removeCustomProvider(
  tx: Transaction,
  key: { projectId: string; id: string },
): Promise<void> {
  const { name } = await lockRow(tx, 'CustomProvider', { ...key, noun: 'Custom provider' });
  const uses = await describeUses(tx, { projectId: key.projectId, provider: name });
  if (uses !== null) throw conflict(uses);
  await tx.customProvider.delete({ where: { projectId_id: key } });
}

/** Returns a sentence about everything that uses a provider, except these integrations. Null if nothing uses it. */
export async function describeUses(
  client: Pick<Transaction, 'integration' | 'connection' | 'providerApp'>,
  { projectId, provider }: { projectId: string; provider: string },
  deletedIntegrations: readonly string[] = [],
): Promise<string | null> {
  const where = { projectId, provider };
  const integrations = await client.integration.findMany({
    where: { ...where, name: { notIn: [...deletedIntegrations] } },
    select: { name: true },
    take: NAMED_MAX,
  });
  const connections = await client.connection.count({ where });
  const apps = await client.providerApp.count({ where });
  const uses = [
    ...(integrations.length > 0
      ? [`integrations (${integrations.map(({ name }) => name).join(', ')})`]
      : []),
    ...(connections > 0 ? [formatCount(connections, 'connection')] : []),
    ...(apps > 0 ? [formatCount(apps, 'provider app')] : []),
  ];
  return uses.length > 0 ? `${uses.join(', ')} use ${provider}. Delete them first.` : null;
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Throws UNPROCESSABLE if the project has the maximum number of custom providers. */
async function refuseTooMany(tx: Transaction, projectId: string): Promise<void> {
  // Creations in one project take turns, so that no two of them count the same rows.
  const project = statements.selectFrom('Project').select('id').where('id', '=', projectId);
  await run(tx, project.forNoKeyUpdate());
  if ((await tx.customProvider.count({ where: { projectId } })) < CUSTOM_PROVIDERS_MAX) return;
  throw unprocessable(
    `The project has ${CUSTOM_PROVIDERS_MAX} custom providers, which is the limit.`,
  );
}

/** Throws BAD_USER_INPUT if the document can't be compiled. */
export function compileOrRefuse(
  row: Pick<CustomProvider, 'projectId' | 'id' | 'revision'>,
  content: ProviderDocument,
  path: Path = ['document'],
) {
  try {
    return createCustomProvider(row, content);
  } catch (error) {
    throw invalid(path, error instanceof Error ? error.message : String(error));
  }
}

function toJson(content: ProviderDocument): Prisma.InputJsonObject {
  return content as Prisma.InputJsonObject;
}
