/**
 * Reads the rows that a write needs in one statement: whose account it goes to, and what its events contain. Callers
 * name a project that their viewer may see. Rows of a group or a consumer that is being erased are not found.
 */
import { isNotErased } from '../reads/hidden-rows.ts';
import { toTableRows } from '../reads/linked-rows.ts';
import { buildStatement, type RunStatement, statements, toShortArrays } from '../statements.ts';
import { listColumns, type Row, type Table, type Tables } from '../tables.ts';

/** A connection with its sealed credentials. */
export type ConnectionWithCredentials = Row<'Connection'> &
  Pick<Tables['Connection'], 'credentialsSealed'>;

interface TargetRows<Missing> {
  integration: Row<'Integration'>;
  group: Row<'Group'> | Missing;
  installation: Row<'Installation'> | Missing;
  connection: ConnectionWithCredentials | Missing;
  consumer: Row<'Consumer'> | Missing;
}

/** An installation with its connection and the parties of both. */
export type WriteTarget = TargetRows<never>;

/** The rows that an input names. All except the integration may be missing. */
export type NamedTarget = TargetRows<null>;

interface TargetNames {
  projectId: string;
  integration: { by: 'id' | 'name'; value: string };
  groupRef: string;
}

/** Null if the project has no such integration. */
export async function findNamedTarget(
  run: RunStatement,
  names: TargetNames,
): Promise<NamedTarget | null> {
  const [values] = await run(BY_NAMES[names.integration.by], names);
  return values ? toTarget(values) : null;
}

/** Null if the installation has been deleted from the project. */
export async function findWriteTarget(
  run: RunStatement,
  key: { projectId: string; installationId: string },
): Promise<WriteTarget | null> {
  const [values] = await run(BY_INSTALLATION, key);
  const target = values && toTarget(values);
  return target && isComplete(target) ? target : null;
}

export function isComplete(target: NamedTarget): target is WriteTarget {
  return Object.values(target).every((row) => row !== null);
}

/** The tables in the order of their columns. The sealed credentials are the last column. */
const TABLES = ['Integration', 'Group', 'Installation', 'Connection', 'Consumer'] as const;
const COLUMNS = [
  ...qualifyColumns('integration', 'Integration'),
  ...qualifyColumns('group', 'Group'),
  ...qualifyColumns('installation', 'Installation'),
  ...qualifyColumns('connection', 'Connection'),
  ...qualifyColumns('consumer', 'Consumer'),
  'connection.credentialsSealed',
] as const;

/** All columns of a `Row`. */
function qualifyColumns<T extends Table, A extends string>(alias: A, table: T) {
  return listColumns(table).map((column) => `${alias}.${column}` as const);
}

function toTarget(values: unknown[]): NamedTarget | null {
  const rows = toTableRows(TABLES, values);
  const { Integration: integration, Group: group, Installation: installation } = rows;
  const { Connection: connection, Consumer: consumer } = rows;
  if (!integration) return null;
  const credentialsSealed = values.at(-1) as ConnectionWithCredentials['credentialsSealed'];
  const connectionWithCredentials = connection && { ...connection, credentialsSealed };
  return { integration, group, installation, connection: connectionWithCredentials, consumer };
}

const BY_NAMES = {
  id: toShortArrays(createTargetStatement('id')),
  name: toShortArrays(createTargetStatement('name')),
};

/**
 * The project is bound for each table. If a condition of an outer join took it from another table, a cluster would read
 * from all nodes.
 */
function createTargetStatement(column: 'id' | 'name') {
  return buildStatement<TargetNames>((bind) => {
    const project = bind('projectId');
    return statements
      .selectFrom('Integration as integration')
      .leftJoin('Group as group', (join) =>
        join
          .on('group.projectId', '=', project)
          .on('group.groupRef', '=', bind('groupRef'))
          .on(isNotErased('group', 'id')),
      )
      .leftJoin('Installation as installation', (join) =>
        join
          .on('installation.projectId', '=', project)
          .onRef('installation.integrationId', '=', 'integration.id')
          .onRef('installation.groupId', '=', 'group.id'),
      )
      .leftJoin('Connection as connection', (join) =>
        join
          .on('connection.projectId', '=', project)
          .onRef('connection.id', '=', 'installation.connectionId')
          .on(isNotErased('connection', 'consumerId')),
      )
      .leftJoin('Consumer as consumer', (join) =>
        join
          .on('consumer.projectId', '=', project)
          .onRef('consumer.id', '=', 'connection.consumerId'),
      )
      .select(COLUMNS)
      .where('integration.projectId', '=', project)
      .where(
        `integration.${column}`,
        '=',
        bind(({ integration }) => integration.value),
      );
  });
}

/** Installations joined with their integrations, groups, connections and consumers. */
export const installationsWithParties = statements
  .selectFrom('Installation as installation')
  .innerJoin('Integration as integration', (join) =>
    join
      .onRef('integration.projectId', '=', 'installation.projectId')
      .onRef('integration.id', '=', 'installation.integrationId'),
  )
  .innerJoin('Group as group', (join) =>
    join
      .onRef('group.projectId', '=', 'installation.projectId')
      .onRef('group.id', '=', 'installation.groupId'),
  )
  .innerJoin('Connection as connection', (join) =>
    join
      .onRef('connection.projectId', '=', 'installation.projectId')
      .onRef('connection.id', '=', 'installation.connectionId'),
  )
  .innerJoin('Consumer as consumer', (join) =>
    join
      .onRef('consumer.projectId', '=', 'installation.projectId')
      .onRef('consumer.id', '=', 'connection.consumerId'),
  );

const BY_INSTALLATION = toShortArrays(
  buildStatement<{ projectId: string; installationId: string }>((bind) => {
    const project = bind('projectId');
    return installationsWithParties
      .select(COLUMNS)
      .where(isNotErased('group', 'id'))
      .where(isNotErased('connection', 'consumerId'))
      .where('installation.projectId', '=', project)
      .where('installation.id', '=', bind('installationId'));
  }),
);
