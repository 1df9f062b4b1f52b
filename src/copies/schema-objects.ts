/** The tables, functions and types that migrations create. A copy that failed drops those that it created. */
import type { OpenSession } from '../database/sessions/session.ts';

/** Objects in an order in which they can be dropped. Indexes, sequences and triggers are dropped with their tables. */
const OBJECTS = `
  with own as (select oid from pg_namespace where nspname = current_schema()), named as (
    select 'table' as "kind", quote_ident(c.relname) as "name", c.oid from pg_class c, own
    where c.relnamespace = own.oid and c.relkind in ('r', 'p') and not c.relispartition
    union all
    select 'function', p.oid::regprocedure::text, p.oid from pg_proc p, own
    where p.pronamespace = own.oid and p.prokind = 'f'
    union all
    select 'type', quote_ident(t.typname), t.oid from pg_type t, own
    where t.typnamespace = own.oid and t.typtype = 'e')
  select "kind", "name" from named
  where not exists (select 1 from pg_depend d where d.objid = named.oid and d.deptype = 'e')
  order by array_position(array['table', 'function', 'type'], "kind"), "name"`;

export interface SchemaObject {
  kind: 'table' | 'function' | 'type';
  /** The name as SQL, quoted if necessary. */
  name: string;
}

/** Returns all objects of the schema except those of extensions. */
export async function listObjects(session: OpenSession): Promise<SchemaObject[]> {
  const { rows } = await session.query<SchemaObject>(OBJECTS);
  return rows;
}

/** Drops all objects that are not in `before`. Does nothing if `before` has migrations, whose tables may need them. */
export async function dropCreated(session: OpenSession, before: SchemaObject[]): Promise<void> {
  const known = new Set(before.map(({ kind, name }) => `${kind} ${name}`));
  if (known.has('table _prisma_migrations')) return;
  const objects = await listObjects(session);
  await session.query('begin');
  for (const { kind, name } of objects) {
    if (known.has(`${kind} ${name}`)) continue;
    await session.query(`drop ${kind} if exists ${name} cascade`);
  }
  await session.query('commit');
}
