/** Lists problems in a project that need a person. The members of its org share their acknowledgements. */
import { z } from 'zod';
import { isForeignKeyViolation } from '../../database/connect/violations.ts';
import {
  type AttentionKind,
  type AttentionRow,
  ITEMS_OF_KIND_MAX,
  loadAttentionRows,
  ROWS_OF_KIND_MAX,
} from '../../database/statements/attention-items.ts';
import type { Row } from '../../database/statements/tables.ts';
import { notFound } from '../../kernel/errors.ts';
import { createProviderId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../work/durations.ts';
import { load } from '../access/batched.ts';
import type { Call, RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { read } from '../access/declared-read.ts';
import type { Batch } from '../access/scope.ts';
import { formatPrincipal } from '../access/viewer/viewer.ts';
import { orElse } from '../base/input-schemas.ts';
import { projectIdOrName } from '../base/names.ts';
import { computed, enumeration, resource } from '../base/resource.ts';
import { printedColumn } from '../base/stored-text.ts';
import { loadNodes, type NodeObject } from './node.ts';

const attentionKind = enumeration('AttentionKind', 'A kind of attention item.', {
  DESTINATION_FAILING: 'A destination has failed every attempt since `startTime`.',
  CONNECTION_BAD_CREDENTIALS: 'The provider rejects the credentials of a connection.',
  CONNECTION_UNREFRESHABLE:
    'A connection has no refresh token, so it stops working when its access token expires. Connect the account again.',
  INSTALLATION_UNHEALTHY:
    'An installation is unhealthy for another reason than the credentials of its connection.',
  SETUP_FAILED:
    'A mistake in the setup kept customers from connecting accounts of a provider in the last 24 hours.',
  READ_PAUSED: 'Scheduled reads of an object are paused.',
  PROPOSALS_PENDING: 'Proposals wait for an approval.',
  OPERATIONS_FAILED: 'Operations failed in the last 24 hours.',
  DELIVERIES_FAILED: 'Deliveries failed permanently in the last 24 hours.',
} satisfies Record<AttentionKind, string>);

const KINDS = attentionKind.options;

export interface AttentionItem extends AttentionRow {
  subject: NodeObject;
}

export const attentionItemResource = resource(
  'AttentionItem',
  'Something in a project that needs a person. It ends when its cause ends.',
  {
    kind: attentionKind.describe('The kind of the problem.'),
    objectName: computed(
      z
        .string()
        .nullable()
        .describe(
          "The provider's name of the object whose reads are paused. Null for other kinds.",
        ),
      ({ objectName }: AttentionItem) => objectName || null,
    ),
    detail: printedColumn(
      'detail',
      z.string().nullable().describe('A human-readable reason. Null if the kind says everything.'),
    ),
    startTime: z
      .date()
      .describe('When the problem began, or when the first counted failure or proposal happened.'),
    lastTime: z
      .date()
      .describe(
        'When the problem last began, or when the last counted failure or proposal happened. Acknowledge the item with this time.',
      ),
    count: z
      .int()
      .describe(
        `The number of failures or proposals, at most ${ROWS_OF_KIND_MAX}. 1 for other kinds.`,
      ),
    acknowledgedBy: z
      .string()
      .nullable()
      .describe(
        'The principal that acknowledged the item, like `builder:…` or `api:…`. Null if the item is not acknowledged.',
      ),
    acknowledgeTime: z
      .date()
      .nullable()
      .describe('When the item was acknowledged. Null if it is not acknowledged.'),
  },
);

export const listAttentionItems = read(
  'read',
  `Lists the attention items of a project, by kind: at most ${ITEMS_OF_KIND_MAX} items of each kind, unacknowledged ones first, then the latest.`,
  (call: Call, { id: projectId }: Row<'Project'>): Promise<AttentionItem[]> =>
    load(call, loadItemsOfProjects, projectId),
);

const loadItemsOfProjects: Batch<string, AttentionItem[]> = async (call, projectIds) => {
  const rows = await loadAttentionRows(call.database.run, {
    projectIds,
    from: new Date(call.now().getTime() - DAY_MS),
    providerPrefix: createProviderId(''),
  });
  const subjectIds = [...new Set(rows.map(({ subjectId }) => subjectId))];
  const subjects = await loadNodes(call, subjectIds);
  const subjectsById = new Map(subjectIds.map((subjectId, index) => [subjectId, subjects[index]]));
  // The subject is null if it is being erased.
  const items = rows.flatMap((row) => {
    const subject = subjectsById.get(row.subjectId);
    return subject && !(subject instanceof Error) ? { ...row, subject } : [];
  });
  const sortedItems = items.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  const itemsByProject = Map.groupBy(sortedItems, ({ projectId }) => projectId);
  return projectIds.map((projectId) => itemsByProject.get(projectId) ?? []);
};

const itemReference = z.object({
  projectIdOrName,
  kind: attentionKind.describe('The kind of the item.'),
  // The id of a custom provider contains the id of its project and its name.
  subjectId: z
    .string()
    .min(1)
    .max(128)
    .meta({ graphql: 'ID' })
    .describe('The id of the subject of the item.'),
  objectName: orElse(z.string().max(256), '').describe(
    'The object of the item. Required if the item has one.',
  ),
});

export const acknowledgeAttentionItem = projectMutation({
  description:
    'Acknowledges an attention item for all members of the org. The acknowledgement ends when the problem begins again or something else fails, and after the retention of the gateway.',
  needs: 'full',
  input: itemReference
    .extend({
      lastTime: z
        .date()
        .describe(
          'The `lastTime` of the item when you read it. If the item has a later one by now, it stays unacknowledged.',
        ),
    })
    .meta({
      id: 'AcknowledgeAttentionItemInput',
      description: 'The attention item to acknowledge.',
    }),
  async run(call, { lastTime, ...reference }, project): Promise<AttentionItem> {
    const item = await getItem(call, project, reference);
    const readTime = lastTime < item.lastTime ? lastTime : item.lastTime;
    const acknowledgement = await acknowledge(call, item, readTime);
    if (!acknowledgement || acknowledgement.lastTime < item.lastTime) return item;
    const { acknowledgedBy, createTime: acknowledgeTime } = acknowledgement;
    return { ...item, acknowledgedBy, acknowledgeTime };
  },
});

export const reopenAttentionItem = projectMutation({
  description:
    'Removes the acknowledgement of an attention item. Does nothing if it has no acknowledgement.',
  needs: 'full',
  input: itemReference.meta({
    id: 'ReopenAttentionItemInput',
    description: 'The attention item that needs a person again.',
  }),
  async run(call, reference, project): Promise<AttentionItem> {
    const item = await getItem(call, project, reference);
    await call.database.prisma.acknowledgement.deleteMany({ where: toKey(item) });
    return { ...item, acknowledgedBy: null, acknowledgeTime: null };
  },
});

/** Throws NOT_FOUND if the project has no such item: another project's row, or a problem that has ended. */
async function getItem(
  call: Call,
  project: Row<'Project'>,
  { kind, subjectId, objectName }: Pick<AttentionRow, 'kind' | 'subjectId' | 'objectName'>,
): Promise<AttentionItem> {
  const items = await listAttentionItems(call, project);
  const item = items.find(
    (candidate) =>
      candidate.kind === kind &&
      candidate.subjectId === subjectId &&
      candidate.objectName === objectName,
  );
  if (!item) throw notFound('Attention item', subjectId);
  return item;
}

/** Columns that refer to the subject, so that an acknowledgement is deleted with it. */
const SUBJECT_COLUMNS: Partial<Record<AttentionKind, string>> = {
  DESTINATION_FAILING: 'destinationId',
  CONNECTION_BAD_CREDENTIALS: 'connectionId',
  CONNECTION_UNREFRESHABLE: 'connectionId',
  INSTALLATION_UNHEALTHY: 'installationId',
  READ_PAUSED: 'installationId',
};

function toKey({ projectId, kind, subjectId, objectName }: AttentionItem) {
  return { projectId, kind, subjectId, objectName };
}

/**
 * Stores an acknowledgement, unless the stored acknowledgement covers a later time. Returns the stored acknowledgement, or
 * null if it was removed in between.
 */
async function acknowledge(
  call: RowCall,
  item: AttentionItem,
  lastTime: Date,
): Promise<Row<'Acknowledgement'> | null> {
  const { acknowledgement } = call.database.prisma;
  const key = toKey(item);
  const change = { lastTime, acknowledgedBy: formatPrincipal(call.viewer), createTime: call.now() };
  const column = SUBJECT_COLUMNS[item.kind];
  const subjectReference = column && { [column]: item.subjectId };
  try {
    const data = [{ ...key, ...change, ...subjectReference }];
    await acknowledgement.createMany({ data, skipDuplicates: true });
  } catch (error) {
    // The subject was deleted after the item was read.
    throw isForeignKeyViolation(error) ? notFound('Attention item', item.subjectId) : error;
  }
  await acknowledgement.updateMany({ where: { ...key, lastTime: { lt: lastTime } }, data: change });
  return acknowledgement.findUnique({
    where: { projectId_kind_subjectId_objectName: key },
  });
}
