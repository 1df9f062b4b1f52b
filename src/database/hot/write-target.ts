/**
 * Reads the target of a write in one statement: the integration, the group, the installation, and its connection with
 * the credentials. Callers name a project that their viewer may see.
 */
import type { RawBuilder } from 'kysely';
import { rowsOfTables } from '../reads/linked-rows.ts';
import type { Rows } from '../rows.ts';
import { CompiledStatement, sql, statements, type ValueOf } from '../statements.ts';
import { columnsOf, type Row, type Table, type Tables } from '../tables.ts';

/** A connection with its sealed credentials. */
export type AccountRow = Row<'Connection'> & Pick<Tables['Connection'], 'credentialsSealed'>;

export interface WriteTarget {
  integration: Row<'Integration'>;
  group: Row<'Group'> | null;
  installation: Row<'Installation'> | null;
  /** The connection of the installation. */
  account: AccountRow | null;
}

export interface TargetKey {
  projectId: string;
  integration: { id: string } | { name: string };
  groupRef: string;
}

/** Null if the project has no such integration. */
export async function findWriteTarget(rows: Rows, key: TargetKey): Promise<WriteTarget | null> {
  const [values] = await rows.arrays(TARGETS['id' in key.integration ? 'byId' : 'byName'], key);
  if (!values) return null;
  const rowOf = rowsOfTables(TARGET_TABLES, values);
  const { Integration: integration, Group: group, Installation: installation } = rowOf;
  if (!integration) return null;
  return { integration, group, installation, account: accountOf(rowOf.Connection, values) };
}

/** An installation with everything that its events contain. */
export interface InstalledAccount {
  installation: Row<'Installation'>;
  integration: Row<'Integration'>;
  group: Row<'Group'>;
  account: AccountRow;
  consumer: Row<'Consumer'>;
}

/** Null if the installation has been deleted from the project. */
export async function findInstalledAccount(
  rows: Rows,
  key: { projectId: string; installationId: string },
): Promise<InstalledAccount | null> {
  const [values] = await rows.arrays(INSTALLED, key);
  if (!values) return null;
  const rowOf = rowsOfTables(INSTALLED_TABLES, values);
  const { Integration: integration, Group: group, Installation: installation } = rowOf;
  const { Consumer: consumer } = rowOf;
  const account = accountOf(rowOf.Connection, values);
  // Inner joins: all rows exist, or none.
  if (!integration || !group || !installation || !consumer || !account) return null;
  return { integration, group, installation, consumer, account };
}

/** The credentials are the last value. */
function accountOf(connection: Row<'Connection'> | null, values: unknown[]): AccountRow | null {
  if (!connection) return null;
  const credentialsSealed = values.at(-1) as AccountRow['credentialsSealed'];
  return { ...connection, credentialsSealed };
}

const TARGET_TABLES = ['Integration', 'Group', 'Installation', 'Connection'] as const;
const INSTALLED_TABLES = [
  'Integration',
  'Group',
  'Installation',
  'Consumer',
  'Connection',
] as const;

const TARGETS = {
  byId: targets('id', (value) =>
    value(({ integration }) => ('id' in integration ? integration.id : '')),
  ),
  byName: targets('name', (value) =>
    value(({ integration }) => ('name' in integration ? integration.name : '')),
  ),
};

type Named = (value: ValueOf<TargetKey>) => RawBuilder<string>;

function targets(column: 'id' | 'name', named: Named) {
  return new CompiledStatement<TargetKey>((value) =>
    targetOf(value).where(`n.${column}`, '=', named(value)).select('c.credentialsSealed'),
  );
}

/**
 * The project is bound for each table. If a condition of an outer join took it from another table, a cluster would read
 * from all nodes.
 */
function targetOf(value: ValueOf<TargetKey>) {
  const project = value(({ projectId }) => projectId);
  return statements
    .selectFrom('Integration as n')
    .leftJoin('Group as g', (join) =>
      join
        .on('g.projectId', '=', project)
        .on(
          'g.groupRef',
          '=',
          value(({ groupRef }) => groupRef),
        )
        .on(inSight('g.id', project)),
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
        .on(inSight('c.consumerId', project)),
    )
    .select(columns('n', 'Integration'))
    .select(columns('g', 'Group'))
    .select(columns('i', 'Installation'))
    .select(columns('c', 'Connection'))
    .where('n.projectId', '=', project);
}

/** Installations with everything that their events contain. */
export const installed = statements
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

const INSTALLED = new CompiledStatement<{ projectId: string; installationId: string }>((value) => {
  const project = value(({ projectId }) => projectId);
  return installed
    .select(columns('n', 'Integration'))
    .select(columns('g', 'Group'))
    .select(columns('i', 'Installation'))
    .select(columns('u', 'Consumer'))
    .select(columns('c', 'Connection'))
    .select('c.credentialsSealed')
    .where(inSight('g.id', project))
    .where(inSight('c.consumerId', project))
    .where('i.projectId', '=', project)
    .where(
      'i.id',
      '=',
      value(({ installationId }) => installationId),
    );
});

/** True unless the group or the consumer with that id is being erased. */
function inSight(id: 'g.id' | 'c.consumerId', project: RawBuilder<string>) {
  return sql<boolean>`not exists (select 1 from "Erasure" e
    where e."projectId" = ${project} and e."id" = ${sql.ref(id)})`;
}

/** All columns of a `Row`. */
function columns<T extends Table, A extends string>(alias: A, table: T) {
  return columnsOf(table).map((column) => `${alias}.${column}` as const);
}
