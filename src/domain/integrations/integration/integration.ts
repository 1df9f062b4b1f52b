/**
 * Lists, reads and creates integrations. An integration defines in revisions what to read, write, proxy and
 * subscribe to at a provider.
 */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { notFound } from '../../../kernel/errors.ts';
import { findPrefix, newId } from '../../../kernel/ids.ts';
import { nameInput, type Text } from '../../../kernel/text.ts';
import { byName, load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import { refuseCombinations } from '../../access/paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { listSearchPage, searchFilters } from '../../access/paging/search.ts';
import { loaded } from '../../access/relations.ts';
import { lockRow, requireUnique } from '../../access/row-changes.ts';
import { byId, listVisibleRows } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { integrationName, projectIdOrName } from '../../base/names.ts';
import { createdInProject, resource, updateTime } from '../../base/resource.ts';
import { authScheme } from '../../connections/provider/provider.ts';
import { listProviderIssues } from '../../connections/provider/provider-app-input.ts';
import { recordDestinationUses } from '../../events/destination-uses.ts';
import { listConnectSchemes } from './connect-schemes.ts';
import { type IntegrationContent, readIntegrationContent } from './integration-content.ts';
import { listContentIssues } from './integration-content-check.ts';
import { revisionInput } from './integration-content-input.ts';
import { normalizeContent } from './normalized-content.ts';

type Integration = Row<'Integration'>;

export const integrationResource = resource(
  'Integration',
  'Defines what to read, write, proxy and subscribe to at a provider, in revisions. Groups install it.',
  {
    ...createdInProject,
    name: z
      .string()
      .describe('Letters, digits, - and _; unique in the project regardless of case.'),
    provider: z.string().describe('The name of the provider.'),
    connectSchemes: loaded(
      z
        .array(authScheme)
        .describe(
          'The schemes by which customers can connect accounts. Schemes with a consent page are omitted if the project has no provider app for the provider, or if its app lacks required scopes. The connect page does not offer an integration without schemes.',
        ),
      listConnectSchemes,
      (integration: Row<'Integration'>) => integration,
    ),
    updateTime,
  },
);

export const integrationIdOrName = z
  .string()
  .min(1)
  .max(64)
  .describe('The id of the integration, or its name (case-sensitive).');

const createIntegrationInput = z
  .object({
    projectIdOrName,
    name: integrationName.describe(
      '1 to 64 letters, digits, - and _; unique in the project regardless of case.',
    ),
    provider: z.string().min(1).max(64).describe('The name of a provider of the catalog.'),
    latestRevision: revisionInput,
  })
  .meta({
    id: 'CreateIntegrationInput',
    description: 'The integration to create, with its first revision.',
  });

export const integrationFilters = z.object({
  provider: z
    .string()
    .max(64)
    .optional()
    .describe('Only integrations for the provider with this name.'),
  ...searchFilters.shape,
});

/** Filters that exclude each other. The index for a search contains only words, and determines the order. */
export const EXCLUSIVE_INTEGRATION_FILTERS = [['search', 'provider']] as const;

export const listIntegrations = read(
  orEndUser('read'),
  'Lists integrations, newest first.',
  (
    call: Call,
    project: Row<'Project'>,
    listArgs: PageArgs & FiltersOf<typeof integrationFilters>,
  ) => {
    refuseCombinations(listArgs, EXCLUSIVE_INTEGRATION_FILTERS);
    const { provider, ...args } = listArgs;
    const where = { projectId: project.id, provider: provider ?? undefined };
    const list = {
      name: 'Project.integrations',
      parentId: project.id,
      table: 'Integration',
    } as const;
    return listSearchPage(call, list, args, () => listPage(call, { ...list, where }, args));
  },
);

export const findRequestedIntegration = read(
  orEndUser('read'),
  'Finds an integration of the project by its id or name. Null if there is none.',
  (call: Call, project: Row<'Project'>, idOrName: string) =>
    findIntegration(call, project.id, idOrName),
);

export interface IntegrationKey {
  projectIdOrName?: string | null | undefined;
  integrationIdOrName: string;
}

/** Throws NOT_FOUND if the project has no such integration. */
export const getRequestedIntegration = projectRead(
  orEndUser('read'),
  'Gets an integration by id or name.',
  (call, { integrationIdOrName: idOrName }: IntegrationKey, { id: projectId }) =>
    getIntegration(call, projectId, idOrName),
);

/** Throws NOT_FOUND if the project has no such integration. */
export async function getIntegration(
  call: Call,
  projectId: string,
  idOrName: string,
): Promise<Integration> {
  const integration = await findIntegration(call, projectId, idOrName);
  if (!integration) throw notFound('Integration', idOrName);
  return integration;
}

/** Finds the project's integration with this id or name. Null if there is none. */
export async function findIntegration(
  call: Call,
  projectId: string,
  idOrName: string,
): Promise<Integration | null> {
  if (findPrefix(idOrName) !== 'int') {
    return load(call, integrationsByName, { projectId, name: idOrName });
  }
  const integration = await load(call, byId('Integration'), idOrName);
  return integration?.projectId === projectId ? integration : null;
}

const integrationsByName = byName(
  (call, key) => listVisibleRows(call, 'Integration', key),
  ({ name }) => name,
);

/**
 * Reads the integration and locks it until the transaction ends. A `change` lock is exclusive, and `use` locks are
 * shared, so revisions and installations take turns. Throws NOT_FOUND.
 */
export function lockIntegration(
  tx: Transaction,
  { id, projectId }: Pick<Integration, 'id' | 'projectId'>,
  purpose: 'change' | 'use',
): Promise<Integration> {
  return lockRow(tx, 'Integration', { projectId, id, noun: 'Integration' }, purpose);
}

/** Returns the latest content, and prevents a new revision until the transaction ends. */
export async function lockContent(
  tx: Transaction,
  integration: Pick<Integration, 'id' | 'projectId'>,
): Promise<IntegrationContent> {
  const { projectId, latestRevisionId: id } = await lockIntegration(tx, integration, 'use');
  const where = { projectId_id: { projectId, id } };
  return readIntegrationContent(await tx.revision.findUniqueOrThrow({ where }));
}

export const createIntegration = projectMutation({
  description: 'Creates an integration with its first revision.',
  needs: 'integrations:write',
  input: createIntegrationInput,
  run(call, input, { id: projectId }): Promise<{ integration: Integration; warnings: Text[] }> {
    const { name, provider, latestRevision } = input;
    const path = ['latestRevision', 'content'];
    const creation = inTransaction(call.database, async (tx) => {
      const checkContext = { path, projectId, name, provider };
      requireNoIssues([
        ...listProviderIssues(call, provider, ['provider']),
        ...(await listContentIssues({ ...call, tx }, latestRevision.content, checkContext)),
      ]);
      const { specVersion } = latestRevision;
      const { content, warnings } = normalizeContent(call, latestRevision.content, path);
      const revision = { specVersion, content };
      const integration = await insertIntegration(tx, projectId, {
        ...input,
        latestRevision: revision,
      });
      const inputName = createIntegrationInput.meta()?.id;
      return { integration, warnings: warnings.map((warning) => nameInput(warning, inputName)) };
    });
    return requireUnique(creation, describeTakenNames(name));
  },
});

export function describeTakenNames(names: string): string {
  return `The project already has an integration with this name, regardless of case: ${names}.`;
}

/** Inserts an integration and its first revision. The content must have been checked. */
export async function insertIntegration(
  tx: Transaction,
  projectId: string,
  {
    name,
    provider,
    latestRevision,
  }: Omit<z.output<typeof createIntegrationInput>, 'projectIdOrName'>,
) {
  const integrationId = newId('int');
  const latestRevisionId = newId('rev');
  const integration = await tx.integration.create({
    data: { id: integrationId, projectId, name, provider, latestRevisionId },
  });
  const { specVersion, content } = latestRevision;
  const revision = { id: latestRevisionId, projectId, integrationId, specVersion, content };
  await tx.revision.create({ data: revision });
  await recordDestinationUses(tx, { projectId, integrationId }, content);
  return integration;
}
