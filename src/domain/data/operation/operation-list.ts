/** Lists the operations of a project and of an installation. */
import { z } from 'zod';
import { OperationActionType, OperationStatus } from '../../../database/generated/enums.ts';
import type { Where } from '../../../database/statements/reads/row-list.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { id } from '../../../kernel/ids.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { createdFilters, toCreateTimeRange } from '../../access/paging/created-range.ts';
import { refuseCombinations } from '../../access/paging/exclusive-filters.ts';
import type { NamedList } from '../../access/paging/list-cursor.ts';
import type { FiltersOf, Page, PageArgs } from '../../access/paging/page.ts';
import { type List, listPage } from '../../access/paging/page-of-rows.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { ref } from '../../base/names.ts';
import {
  findIntegration,
  integrationIdOrName,
} from '../../integrations/integration/integration.ts';
import { findGroupByRef } from '../../tenants/project/parties.ts';
import { operationActionType, operationStatus, toStoredOperationStatus } from './operation.ts';

export const operationFilters = z.object({
  status: operationStatus.optional().describe('Only operations with this status.'),
  actionType: operationActionType.optional().describe('Only operations of this type.'),
  ...createdFilters.shape,
});

const EXCLUSION_NOTE =
  'At most one of integrationIdOrName, installationId and groupRef may be set.';

export const projectOperationFilters = z.object({
  integrationIdOrName: integrationIdOrName
    .optional()
    .describe(`Only operations of the integration with this id or name. ${EXCLUSION_NOTE}`),
  installationId: id
    .optional()
    .describe(`Only operations of the installation with this id. ${EXCLUSION_NOTE}`),
  groupRef: ref
    .optional()
    .describe(`Only operations of the group with this ref. ${EXCLUSION_NOTE}`),
  ...operationFilters.shape,
});

/**
 * Filters that exclude each other. An integration and a group together identify an installation, whose id is the filter
 * with an index.
 */
export const EXCLUSIVE_OPERATION_FILTERS = [
  ['integrationIdOrName', 'installationId', 'groupRef'],
] as const;
type ProjectFilters = FiltersOf<typeof projectOperationFilters>;
type OperationFilters = FiltersOf<typeof operationFilters>;

export const listOperations = read(
  orEndUser('read'),
  "Lists a project's operations, newest first, including operations of deleted installations.",
  async (call: Call, { id: projectId }: Row<'Project'>, args: PageArgs & ProjectFilters) => {
    refuseCombinations(args, EXCLUSIVE_OPERATION_FILTERS);
    const range = await createProjectRange(call, projectId, args);
    return listRange(call, { name: 'Project.operations', parentId: projectId, ...range }, args);
  },
);

export const listInstallationOperations = read(
  orEndUser('read'),
  "Lists an installation's operations, newest first.",
  (call: Call, { id, projectId }: Row<'Installation'>, args: PageArgs & OperationFilters) => {
    const range = createInstallationRange({ projectId, installationId: id }, args);
    return listRange(call, { name: 'Installation.operations', parentId: id, ...range }, args);
  },
);

/** A range of an index that contains the operations, with the columns of the index before its key. */
type IndexedRange = Required<Pick<List<'Operation'>, 'where' | 'indexPrefix'>>;

async function createProjectRange(
  call: Call,
  projectId: string,
  filters: ProjectFilters,
): Promise<IndexedRange> {
  const { integrationIdOrName, installationId, groupRef } = filters;
  if (installationId != null) {
    // The installation may have been deleted, but its operations still exist.
    return createInstallationRange({ projectId, installationId }, filters);
  }
  if (integrationIdOrName != null) {
    const integration = await findIntegration(call, projectId, integrationIdOrName);
    const where = { projectId, integrationId: integration?.id ?? [], ...createTypeFilter(filters) };
    return { where, indexPrefix: ['projectId', 'integrationId', 'status', 'actionType'] };
  }
  if (groupRef != null) {
    const group = await findGroupByRef(call, { projectId, groupRef });
    const where = { projectId, groupId: group?.id ?? [], ...createTypeFilter(filters) };
    return { where, indexPrefix: ['projectId', 'groupId', 'status', 'actionType'] };
  }
  const where = { projectId, ...(hasTypeFilter(filters) && createTypeFilter(filters)) };
  return { where, indexPrefix: ['projectId', 'status', 'actionType'] };
}

function createInstallationRange(
  installation: { projectId: string; installationId: string },
  filters: OperationFilters,
): IndexedRange {
  const where = { ...installation, ...(hasTypeFilter(filters) && createTypeFilter(filters)) };
  return { where, indexPrefix: ['projectId', 'installationId', 'actionType', 'status'] };
}

function listRange(
  call: Call,
  { where, ...list }: IndexedRange & NamedList,
  args: PageArgs & OperationFilters,
): Promise<Page<Row<'Operation'>>> {
  const { timeCondition, orderOptions } = toCreateTimeRange('opr', args);
  const timedWhere = { ...where, ...timeCondition };
  return listPage(call, { ...list, ...orderOptions, table: 'Operation', where: timedWhere }, args);
}

function hasTypeFilter({ status, actionType }: OperationFilters): boolean {
  return status != null || actionType != null;
}

/** Creates a filter for the status and the type. If one is absent, lists all its values, because the indexes need both. */
function createTypeFilter({ status, actionType }: OperationFilters): Where<'Operation'> {
  return {
    status: status == null ? Object.values(OperationStatus) : toStoredOperationStatus(status),
    actionType: actionType ?? Object.values(OperationActionType),
  };
}
