/**
 * What a write goes to, in one statement: from the integration and the group to the connection with its credentials.
 * Callers name the project that their viewer may see.
 */
import type { RawBuilder } from 'kysely';
import type { Database } from '../database.ts';
import type { Rows } from '../rows.ts';
import { Kept, sql, statements, type ValueOf } from '../statements.ts';
import { columnsOf, type Row, type Table, type Tables } from '../tables.ts';
import { rowsOfTables } from './linked-rows.ts';

/** A connection, and its credentials as they are stored. */
export type AccountRow = Row<'Connection'> & Pick<Tables['Connection'], 'credentialsSealed'>;

export interface WriteTarget {
  integration: Row<'Integration'>;
  group: Row<'Group'> | null;
  installation: Row<'Installation'> | null;
  /** That of the installation. */
  account: AccountRow | null;
}

/** Where a write can go, with its project, and with the versions of all these rows: one that was changed has another. */
export interface VersionedTarget extends WriteTarget {
  project: Row<'Project'>;
  group: Row<'Group'>;
  installation: Row<'Installation'>;
  account: AccountRow;
  /** As VERSIONS_OF_TARGET has them. */
  versions: string[];
}

/** SQL: the versions of the rows of a target, by the aliases that its statement gives them. */
export const VERSIONS_OF_TARGET = 'array[p.xmin, n.xmin, g.xmin, i.xmin, c.xmin]::text[]';

export interface TargetKey {
  projectId: string;
  integration: { id: string } | { name: string };
  groupRef: string;
}

/** Null if the project has no such integration. In a cluster rows have no versions. */
export async function findWriteTarget(
  { rows, isDistributed }: Pick<Database, 'rows' | 'isDistributed'>,
  key: TargetKey,
): Promise<WriteTarget | VersionedTarget | null> {
  const kind = isDistributed ? 'plain' : 'versioned';
  const [values] = await rows.arrays(
    TARGETS['id' in key.integration ? 'byId' : 'byName'][kind],
    key,
  );
  if (!values) return null;
  const rowOf = rowsOfTables(isDistributed ? TARGET_TABLES : VERSIONED_TABLES, values);
  const { Integration: integration, Group: group, Installation: installation } = rowOf;
  if (!integration) return null;
  const account = accountOf(rowOf.Connection, values);
  const target: WriteTarget = { integration, group, installation, account };
  const { Project: project } = rowOf;
  if (!project || !group || !installation || !account) return target;
  return { ...target, project, group, installation, account, versions: values.at(-2) as string[] };
}

export function isVersioned(target: WriteTarget | VersionedTarget): target is VersionedTarget {
  return 'versions' in target;
}

/** An installation with all that its events tell of it. */
export interface InstalledAccount {
  installation: Row<'Installation'>;
  integration: Row<'Integration'>;
  group: Row<'Group'>;
  account: AccountRow;
  consumer: Row<'Consumer'>;
}

/** Null if the project has no such installation any more. */
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
  // All of them are there, or none is: they are joined.
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
const VERSIONED_TABLES = [...TARGET_TABLES, 'Project'] as const;
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
  const write = (value: ValueOf<TargetKey>) =>
    targetOf(value).where(`n.${column}`, '=', named(value));
  return {
    plain: new Kept<TargetKey>((value) => write(value).select('c.credentialsSealed')),
    versioned: new Kept<TargetKey>((value) =>
      write(value)
        .innerJoin('Project as p', (join) =>
          join.on(
            'p.id',
            '=',
            value(({ projectId }) => projectId),
          ),
        )
        .select(columns('p', 'Project'))
        .select(sql.raw(VERSIONS_OF_TARGET).as('versions'))
        .select('c.credentialsSealed'),
    ),
  };
}

/**
 * Each table's project is bound: a cluster reads from all its nodes where a condition of an outer join names it by another
 * table's.
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

/** Installations with all that their events tell of them. */
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

const INSTALLED = new Kept<{ projectId: string; installationId: string }>((value) => {
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

/** Whether the group or the consumer with that id is in sight: it is not while it is being erased. */
function inSight(id: 'g.id' | 'c.consumerId', project: RawBuilder<string>) {
  return sql<boolean>`not exists (select 1 from "Erasure" e
    where e."projectId" = ${project} and e."id" = ${sql.ref(id)})`;
}

/** All that a `Row` has. */
function columns<T extends Table, A extends string>(alias: A, table: T) {
  return columnsOf(table).map((column) => `${alias}.${column}` as const);
}
