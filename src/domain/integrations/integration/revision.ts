/**
 * Lists and creates revisions, which are versions of an integration's content. The newest revision applies to all
 * installations.
 */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { member, nameInput, type Text, text } from '../../../kernel/text.ts';
import type { Call, ProjectCall, RowCall } from '../../access/call.ts';
import type { InProject } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { type Batch, byId, listVisibleRows } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { orDefault } from '../../base/input-schemas.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { projectIdOrName } from '../../base/names.ts';
import { computed, createdFields, resource } from '../../base/resource.ts';
import { followRevision } from '../../data/provider-event/object-subscription.ts';
import { followSchemaOfRevision } from '../../data/schema-watch/schema-watch.ts';
import { recordDestinationUses } from '../../events/destination-uses.ts';
import type { Impact } from '../installation/check/impacts.ts';
import { findImpacts } from '../installation/check/revision-impacts.ts';
import {
  describeReadsOfObjects,
  pauseDroppedObjects,
  rescheduleObjects,
} from '../installation/installed-object-revision.ts';
import {
  getIntegration,
  getRequestedIntegration,
  type IntegrationKey,
  integrationIdOrName,
  lockIntegration,
} from './integration.ts';
import {
  type IntegrationContent,
  integrationContentResource,
  type RevisionChange,
  readIntegrationContent,
} from './integration-content.ts';
import { listContentIssues } from './integration-content-check.ts';
import { revisionInput } from './integration-content-input.ts';
import { normalizeContent } from './normalized-content.ts';

type Integration = Row<'Integration'>;
type Revision = Row<'Revision'>;

export const revisionResource = resource(
  'Revision',
  "A version of an integration's content. A revision never changes.",
  {
    ...createdFields,
    specVersion: z.string().describe('The version of the format of the content: 1.0.0.'),
    content: computed(integrationContentResource, readIntegrationContent),
  },
);

export const destructiveInput = orDefault(z.boolean(), false).describe(
  'Applies if installations read objects that the revision drops. If true, their reads are paused. If false, the revision is refused. Default: false.',
);

const createRevisionInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    revision: revisionInput,
    destructive: destructiveInput,
  })
  .meta({
    id: 'CreateRevisionInput',
    description: 'The new revision of an integration. It applies to all installations immediately.',
  });

export const listRevisions = read(
  orEndUser('read'),
  "Lists an integration's revisions, newest first.",
  (call: Call, { id, projectId }: Integration, args: PageArgs) => {
    const list = {
      name: 'Integration.revisions',
      parentId: id,
      table: 'Revision',
    } as const;
    return listPage(call, { ...list, where: { projectId, integrationId: id } }, args);
  },
);

/** Throws NOT_FOUND, also for a revision of another integration. */
export const getRevision = read(
  orEndUser('read'),
  'Gets a revision of an integration.',
  async (
    call: Call,
    { revisionId: id, ...key }: IntegrationKey & { revisionId: string },
  ): Promise<Revision> => {
    const { id: integrationId, projectId } = await getRequestedIntegration(call, key);
    const [revision] = await listVisibleRows(call, 'Revision', { id, projectId, integrationId });
    if (!revision) throw notFound('Revision', id);
    return revision;
  },
);

/** Finds the latest revision of each integration. Null for an integration that the viewer may not see. */
export const loadLatestRevisions: Batch<string, Revision | null> = async (call, ids) => {
  const integrations = await byId('Integration')(call, ids);
  const revisionIds = integrations.map((integration) => integration?.latestRevisionId ?? '');
  return byId('Revision')(call, revisionIds);
};

/** Creates a revision. Throws CONFLICT if installations read an object that it drops, unless it is destructive. */
export const createRevision = projectMutation({
  description:
    'Creates the new latest revision of an integration. It is refused if installations read an object that it drops, unless destructive is true.',
  needs: 'integrations:write',
  input: createRevisionInput,
  async run(
    call,
    { integrationIdOrName, revision, destructive },
    project,
  ): Promise<RevisedIntegration & { warnings: Text[]; impacts: Impact[] }> {
    const integration = await getIntegration(call, project.id, integrationIdOrName);
    const context = { ...integration, path: ['revision', 'content'] };
    return inTransaction(call.database, async (tx) => {
      const lockedIntegration = await lockIntegration(tx, integration, 'change');
      requireNoIssues(await listContentIssues({ ...call, tx }, revision.content, context));
      const { content, warnings } = normalizeContent(call, revision.content, context.path);
      const revisedIntegration = await revise(call, tx, {
        integration: lockedIntegration,
        revision: { ...revision, content },
        destructive,
      });
      const impacts = await listImpacts(call, tx, revisedIntegration);
      const inputName = createRevisionInput.meta()?.id;
      return {
        ...revisedIntegration,
        warnings: warnings.map((warning) => nameInput(warning, inputName)),
        impacts,
      };
    });
  },
});

interface RevisedIntegration {
  revision: Revision;
  integration: Integration;
  /** The content of the previous revision. */
  before: IntegrationContent;
}

/** Lists the installations that a new revision breaks, without queries to their providers. */
export async function listImpacts(
  call: Pick<ProjectCall, 'catalog'>,
  tx: Transaction,
  { revision, integration, before }: RevisedIntegration,
): Promise<Impact[]> {
  const { impacts } = await findImpacts(call, tx, {
    projectId: integration.projectId,
    integrationId: integration.id,
    integrationName: integration.name,
    before,
    after: readIntegrationContent(revision),
  });
  return impacts.list();
}

interface NewRevision {
  /** The integration, locked by the transaction. */
  integration: Integration;
  revision: z.output<typeof revisionInput>;
  destructive: boolean;
}

/**
 * Makes a revision the latest. Its content must have been checked. Throws CONFLICT if installations read an
 * object that it drops, unless it is destructive.
 */
export async function revise(
  call: InProject<RowCall>,
  tx: Transaction,
  { integration, revision, destructive }: NewRevision,
): Promise<RevisedIntegration> {
  const { id, projectId, latestRevisionId } = integration;
  const previousRevision = await tx.revision.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: latestRevisionId } },
  });
  const changes = {
    integrationId: id,
    projectId,
    before: readIntegrationContent(previousRevision),
    after: revision.content,
    now: call.now(),
  };
  await dropObjects(tx, changes, destructive);
  await rescheduleObjects(tx, changes);
  const insertedRows = await insertRevision(tx, integration, { revision, now: call.now() });
  await followSchemaOfRevision(call, tx, changes);
  await followRevision(call, tx, changes);
  return { ...insertedRows, before: changes.before };
}

async function insertRevision(
  tx: Transaction,
  { id: integrationId, projectId }: Integration,
  { revision, now }: { revision: z.output<typeof revisionInput>; now: Date },
) {
  const id = newId('rev');
  const { specVersion, content } = revision;
  const createdRevision = await tx.revision.create({
    data: { id, projectId, integrationId, specVersion, content },
  });
  const integration = await tx.integration.update({
    where: { projectId_id: { projectId, id: integrationId } },
    data: { latestRevisionId: id, updateTime: now },
  });
  await recordDestinationUses(tx, { projectId, integrationId }, content);
  return { revision: createdRevision, integration };
}

async function dropObjects(
  tx: Transaction,
  { before, after: content, now, ...key }: RevisionChange & { now: Date },
  destructive: boolean,
): Promise<void> {
  const objectNames = listDroppedObjects({ before, after: content });
  if (objectNames.length === 0) return;
  if (destructive) return pauseDroppedObjects(tx, key, { objectNames, now });
  const reads = await describeReadsOfObjects(tx, key, objectNames);
  if (reads.length === 0) return;
  throw conflict(
    text`${describeDroppedReads(reads)} With ${member('destructive')}, their reads are paused.`,
  );
}

/** Lists the objects that the previous content reads and the new content does not read. */
export function listDroppedObjects({
  before,
  after: content,
}: Pick<RevisionChange, 'before' | 'after'>): string[] {
  const names = new Set(content.read?.objects.map(({ objectName }) => objectName));
  return (before.read?.objects ?? [])
    .map(({ objectName }) => objectName)
    .filter((name) => !names.has(name));
}

/** Returns a sentence about the reads that a revision drops. */
export function describeDroppedReads(reads: readonly string[]): string {
  return `Installations read objects that the revision drops: ${reads.join(', ')}.`;
}
