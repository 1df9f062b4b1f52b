/**
 * Prisma reads an enum back as `"column"::text`. PostgreSQL calls that cast stable, because values may be added, and Citus
 * refuses it where rows are changed. A cast of one's own may be called immutable: values are added, and never renamed.
 */
import pg from 'pg';
import type { OpenSession } from '../sessions/session.ts';

const ENUMS = `
  select t.typname as "name", array_agg(e.enumlabel::text order by e.enumsortorder) as "values",
    exists (select from pg_cast c where c.castsource = t.oid and c.casttarget = 'text'::regtype) as "isCast",
    (select p.prosrc from pg_proc p where p.pronamespace = t.typnamespace and p.proname = 'text_of'
      and p.proargtypes[0] = t.oid) as "body"
  from pg_type t join pg_enum e on e.enumtypid = t.oid
  where t.typnamespace = 'public'::regnamespace group by t.oid, t.typname`;

interface Enum {
  name: string;
  values: string[];
  isCast: boolean;
  body: string | null;
}

/** Gives every enum such a cast. To be repeated when values were added; else it changes nothing, and asks no node. */
export async function castEnums(session: Pick<OpenSession, 'query'>): Promise<void> {
  const { rows } = await session.query<Enum>(ENUMS);
  for (const { name, values, isCast, body: known } of rows) {
    const type = pg.escapeIdentifier(name);
    const cases = values.map(pg.escapeLiteral).map((value) => `when ${value} then ${value}`);
    const body = ` select case "value" ${cases.join(' ')} end `;
    if (body !== known)
      await session.query(`create or replace function "text_of"("value" ${type}) returns text
        language sql immutable strict parallel safe as $$${body}$$`);
    if (!isCast)
      await session.query(`create cast (${type} as text) with function "text_of"(${type})`);
  }
}
