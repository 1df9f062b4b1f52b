/**
 * Reads the rows that a write needs in one statement: whose account it goes to, and what its events contain. Callers
 * name a project that their viewer may see. Rows of a group or a consumer that is being erased are not found.
 */
import type { RawBuilder } from 'kysely';
import { toTableRows } from '../reads/linked-rows.ts';
import type { Rows } from '../rows.ts';
import { CompiledStatement, sql, statements } from '../statements.ts';
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
export async function findNamedTarget(rows: Rows, names: TargetNames): Promise<NamedTarget | null> {
  const [values] = await rows.arrays(BY_NAMES[names.integration.by], names);
  return values ? toTarget(values) : null;
}

/** Null if the installation has been deleted from the project. */
export async function findWriteTarget(
  rows: Rows,
  key: { projectId: string; installationId: string },
): Promise<WriteTarget | null> {
  const [values] = await rows.arrays(BY_INSTALLATION, key);
  const target = values && toTarget(values);
  return target && isComplete(target) ? target : null;
}

export function isComplete(target: NamedTarget): target is WriteTarget {
  return Object.values(target).every((row) => row !== null);
}

/** The tables in the order of their columns. The sealed credentials are the last column. */
const TABLES = ['Integration', 'Group', 'Installation', 'Connection', 'Consumer'] as const;
const COLUMNS = [
  ...qualifyColumns('n', 'Integration'),
  ...qualifyColumns('g', 'Group'),
  ...qualifyColumns('i', 'Installation'),
  ...qualifyColumns('c', 'Connection'),
  ...qualifyColumns('u', 'Consumer'),
  'c.credentialsSealed',
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

const BY_NAMES = { id: createTargetStatement('id'), name: createTargetStatement('name') };

/**
 * The project is bound for each table. If a condition of an outer join took it from another table, a cluster would read
 * from all nodes.
 */
function createTargetStatement(column: 'id' | 'name') {
  return new CompiledStatement<TargetNames>((bind) => {
    const project = bind(({ projectId }) => projectId);
    return statements
      .selectFrom('Integration as n')
      .leftJoin('Group as g', (join) =>
        join
          .on('g.projectId', '=', project)
          .on(
            'g.groupRef',
            '=',
            bind(({ groupRef }) => groupRef),
          )
          .on(isVisible('g.id', project)),
      )
      .leftJoin('Installation as i', (join) =>
        join
          .on('i.projectId', '=', project)
          .onRef('i.integrationId', '=', 'n.id')
          .onRef('i.groupId', '=', 'g.id'),
      )
      .leftJoin('Connection as c', (join) =>
        join
          .on('c.projectId', '=', project)
          .onRef('c.id', '=', 'i.connectionId')
          .on(isVisible('c.consumerId', project)),
      )
      .leftJoin('Consumer as u', (join) =>
        join.on('u.projectId', '=', project).onRef('u.id', '=', 'c.consumerId'),
      )
      .select(COLUMNS)
      .where('n.projectId', '=', project)
      .where(
        `n.${column}`,
        '=',
        bind(({ integration }) => integration.value),
      );
  });
}

/** Installations joined with their integrations, groups, connections and consumers. */
export const installationsWithParties = statements
  .selectFrom('Installation as i')
  .innerJoin('Integration as n', (join) =>
    join.onRef('n.projectId', '=', 'i.projectId').onRef('n.id', '=', 'i.integrationId'),
  )
  .innerJoin('Group as g', (join) =>
    join.onRef('g.projectId', '=', 'i.projectId').onRef('g.id', '=', 'i.groupId'),
  )
  .innerJoin('Connection as c', (join) =>
    join.onRef('c.projectId', '=', 'i.projectId').onRef('c.id', '=', 'i.connectionId'),
  )
  .innerJoin('Consumer as u', (join) =>
    join.onRef('u.projectId', '=', 'i.projectId').onRef('u.id', '=', 'c.consumerId'),
  );

const BY_INSTALLATION = new CompiledStatement<{ projectId: string; installationId: string }>(
  (bind) => {
    const project = bind(({ projectId }) => projectId);
    return installationsWithParties
      .select(COLUMNS)
      .where(isVisible('g.id', project))
      .where(isVisible('c.consumerId', project))
      .where('i.projectId', '=', project)
      .where(
        'i.id',
        '=',
        bind(({ installationId }) => installationId),
      );
  },
);

/** True unless the group or the consumer with that id is being erased. */
function isVisible(id: 'g.id' | 'c.consumerId', project: RawBuilder<string>) {
  return sql<boolean>`not exists (select 1 from "Erasure" e
    where e."projectId" = ${project} and e."id" = ${sql.ref(id)})`;
}
