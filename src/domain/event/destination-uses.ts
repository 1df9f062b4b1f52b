/**
 * What names a destination: integrations' latest revisions, and installations' configs in force. They
 * name it by its name, inside JSON, so these locks stand where a foreign key can't.
 */
import type { Transaction } from '../../database/transaction.ts';

/** Enough to tell people where to look. */
const USES_NAMED = 10;

/**
 * What names the destination, in words (`integration contacts-sync`), at most ten; none where it is free.
 * From here to the end of the transaction nothing else comes to name it: to be asked before a rename
 * or a deletion.
 */
export async function destinationUses(
  tx: Transaction,
  projectId: string,
  name: string,
): Promise<string[]> {
  await tx.$queryRaw`
    select 1 from "Destination" where "projectId" = ${projectId} and "name" = ${name} for update`;
  const uses = await tx.$queryRaw<{ use: string }[]>`
    (select 'integration ' || i."name" as "use"
      from "Integration" i join "Revision" r on r."id" = i."latestRevisionId"
      where i."projectId" = ${projectId} and jsonb_path_exists(r."content",
        '$.*.objects[*] ? (@.destination == $name)', jsonb_build_object('name', ${name}::text))
      limit ${USES_NAMED}::int)
    union all
    (select 'installation ' || i."id"
      from "Installation" i join "InstallationConfig" c on c."id" = i."configId"
      where i."projectId" = ${projectId} and jsonb_path_exists(c."content",
        '$.read[*] ? (@.destination == $name)', jsonb_build_object('name', ${name}::text))
      limit ${USES_NAMED}::int)
    limit ${USES_NAMED}::int`;
  return uses.map(({ use }) => use);
}

/** Those of the names that are destinations; they stay so until the transaction ends. */
export async function holdDestinations(
  tx: Transaction,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  // In one order, so that two transactions never wait for each other.
  const found = await tx.$queryRaw<{ name: string }[]>`
    select "name" from "Destination"
    where "projectId" = ${projectId} and "name" = any(${[...names]}::text[])
    order by "id" for key share`;
  return new Set(found.map(({ name }) => name));
}
