/** Describes the schema of a database as lines of text, without what depends on the server and on the order of changes. */

/** Not-null constraints are properties of columns: only PostgreSQL 18 names them, and it keeps the names of renamed columns. */
const OBJECTS = `
  with gateway as (select oid from pg_namespace where nspname = 'public'), object as (
  select format('schema %s', nspname) as "line" from pg_namespace where nspname !~ '^(pg_|information_schema$)'
  union all
  select format('enum %s: %s', typname, (select string_agg(enumlabel, ', ' order by enumsortorder) from pg_enum where enumtypid = pg_type.oid))
  from pg_type, gateway where typnamespace = gateway.oid and typtype = 'e'
  union all
  select format('table %s: %s %s', relname, relpersistence, coalesce(reloptions::text, ''))
  from pg_class, gateway where relnamespace = gateway.oid and relkind = 'r' and relname <> '_prisma_migrations'
  union all
  select format('column %s.%s %s: %s %s %s %s %s', relname,
    to_char(row_number() over (partition by relname order by attnum), 'FM000'), attname,
    format_type(atttypid, atttypmod), coalesce('collate ' || nullif(collname, 'default'), ''), case when attnotnull then 'not null' else '' end,
    coalesce('default ' || pg_get_expr(adbin, adrelid), ''), coalesce(pg_get_serial_sequence(format('%I', relname), attname), ''))
  from pg_attribute
  join pg_class on pg_class.oid = attrelid and relkind = 'r' and relname <> '_prisma_migrations'
  join gateway on gateway.oid = relnamespace
  left join pg_collation on pg_collation.oid = attcollation
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attnum > 0 and not attisdropped
  union all
  select format('constraint %s.%s: %s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid), convalidated)
  from pg_constraint join pg_class on pg_class.oid = conrelid and relname <> '_prisma_migrations', gateway
  where connamespace = gateway.oid and contype <> 'n'
  union all
  select format('index %s', indexdef) from pg_indexes where schemaname = 'public' and tablename <> '_prisma_migrations'
  union all
  select format('sequence %s: %s %s %s', sequencename, data_type, start_value, increment_by) from pg_sequences where schemaname = 'public'
  union all
  select format('trigger %s %s', pg_get_triggerdef(pg_trigger.oid), tgenabled)
  from pg_trigger join pg_class on pg_class.oid = tgrelid, gateway where relnamespace = gateway.oid and not tgisinternal
  union all
  select format('function %s', pg_get_functiondef(pg_proc.oid)) from pg_proc, gateway where pronamespace = gateway.oid)
  select "line" from object order by "line" collate "C"`;

/** Returns a line for each object. The lines of equal schemas are equal on every supported version of PostgreSQL. */
export async function dumpSchema(
  query: (text: string) => Promise<{ rows: { line: string }[] }>,
): Promise<string[]> {
  const { rows } = await query(OBJECTS);
  return rows.map(({ line }) => line.trimEnd());
}
