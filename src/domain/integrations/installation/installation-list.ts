/** Lists the installations of a project, an integration, a group or a connection. */
import { z } from 'zod';
import { type RowKey, toKeyColumns } from '../../../database/statements/row-keys.ts';
import { sqlStatement } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { createdFilters, toCreateTimeRange } from '../../access/paging/created-range.ts';
import { refuseCombinations } from '../../access/paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import type { Batch } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { ref } from '../../base/names.ts';
import { findGroupByRef } from '../../tenants/project/parties.ts';
import { findIntegration, integrationIdOrName } from '../integration/integration.ts';
import { installationHealth } from './installation.ts';

const groupRef = ref.optional().describe('Only installations of the group with this ref.');

export const installationFilters = z.object({ groupRef, ...createdFilters.shape });

export const projectInstallationFilters = z.object({
  integrationIdOrName: integrationIdOrName
    .optional()
    .describe('Only installations of the integration with this id or name.'),
  healthStatus: installationHealth
    .optional()
    .describe('Only installations with this health. Cannot be combined with groupRef.'),
  ...installationFilters.shape,
});

/** Filters that cannot be combined: the index for `groupRef` does not contain the health. */
export const EXCLUSIVE_INSTALLATION_FILTERS = [['groupRef', 'healthStatus']] as const;

type InstallationsArgs = PageArgs & FiltersOf<typeof installationFilters>;

export const listProjectInstallations = read(
  orEndUser('read'),
  'Lists installations of all integrations, newest first.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof projectInstallationFilters>,
  ) => {
    refuseCombinations(args, EXCLUSIVE_INSTALLATION_FILTERS);
    const [groupFilter, integrationFilter] = await Promise.all([
      createGroupFilter(call, projectId, args.groupRef),
      createIntegrationFilter(call, projectId, args.integrationIdOrName),
    ]);
    const { timeCondition, orderOptions } = toCreateTimeRange('ins', args);
    const healthFilter = args.healthStatus == null ? {} : { healthStatus: args.healthStatus };
    const where = {
      projectId,
      ...groupFilter,
      ...integrationFilter,
      ...healthFilter,
      ...timeCondition,
    };
    return listPage(
      call,
      {
        name: 'Project.installations',
        parentId: projectId,
        table: 'Installation',
        where,
        ...orderOptions,
      },
      args,
    );
  },
);

export const listIntegrationInstallations = read(
  orEndUser('read'),
  "Lists an integration's installations, newest first.",
  async (
    call: Call,
    { id: integrationId, projectId }: Row<'Integration'>,
    args: InstallationsArgs,
  ) => {
    const { timeCondition, orderOptions } = toCreateTimeRange('ins', args);
    const groupFilter = await createGroupFilter(call, projectId, args.groupRef);
    const where = { projectId, integrationId, ...groupFilter, ...timeCondition };
    return listPage(
      call,
      {
        name: 'Integration.installations',
        parentId: integrationId,
        table: 'Installation',
        where,
        ...orderOptions,
      },
      args,
    );
  },
);

export const listGroupInstallations = read(
  orEndUser('read'),
  'Lists the installations of a group, newest first.',
  (call: Call, { id: groupId, projectId }: Row<'Group'>, args: PageArgs) =>
    listPage(
      call,
      {
        name: 'Group.installations',
        parentId: groupId,
        table: 'Installation',
        where: { projectId, groupId },
      },
      args,
    ),
);

export const listConnectionInstallations = read(
  orEndUser('read'),
  'Lists the installations that use a connection, newest first.',
  (call: Call, { id: connectionId, projectId }: Row<'Connection'>, args: PageArgs) =>
    listPage(
      call,
      {
        name: 'ConnectedAccount.installations',
        parentId: connectionId,
        table: 'Installation',
        where: { projectId, connectionId },
      },
      args,
    ),
);

/**
 * Creates a filter that matches nothing if the integration does not exist. Prisma matches nothing for an empty list.
 */
async function createIntegrationFilter(call: Call, projectId: string, idOrName?: string | null) {
  if (idOrName == null) return {};
  const integration = await findIntegration(call, projectId, idOrName);
  return { integrationId: integration?.id ?? [] };
}

/** Creates a filter that matches nothing if the group does not exist. Prisma matches nothing for an empty list. */
async function createGroupFilter(call: Call, projectId: string, groupRef?: string | null) {
  if (groupRef == null) return {};
  const group = await findGroupByRef(call, { projectId, groupRef });
  return { groupId: group?.id ?? [] };
}

/** Finds the newest operation of each installation. The viewer must have read the installations. */
export const loadLastOperations: Batch<RowKey, Row<'Operation'> | null> = async (
  { database },
  installations,
) => {
  const operations = await database.run(LAST_OPERATIONS, toKeyColumns(installations));
  const operationsByInstallation = new Map(
    operations.map((operation) => [operation.installationId, operation]),
  );
  return installations.map(({ id }) => operationsByInstallation.get(id) ?? null);
};

const LAST_OPERATIONS = sqlStatement<Row<'Operation'>>(`
  select operation.* from unnest($1::text[], $2::text[]) as requested("projectId", "id")
  cross join lateral (
    select * from "Operation"
    where "projectId" = requested."projectId" and "installationId" = requested."id"
    order by "id" desc limit 1
  ) operation`);
