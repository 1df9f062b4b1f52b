/**
 * What names a destination: integrations' latest revisions, and installations' configs in force. They
 * name it by its name, inside JSON, so these locks stand where a foreign key can't.
 */
import { anyOf, run, sql, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { unprocessable } from '../../errors.ts';

/** Enough to tell people where to look. */
const USES_NAMED = 10;

/**
 * What names the destination, in words (`integration contacts-sync`), at most ten; none if it is free.
 * From here to the end of the transaction nothing else can begin to name it: call it before a rename or
 * a deletion.
 */
export async function destinationUses(
  tx: Transaction,
  projectId: string,
  name: string,
): Promise<string[]> {
  await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('id')
      .where('projectId', '=', projectId)
      .where('name', '=', name)
      .forUpdate(),
  );
  const uses = [
    ...(await run(tx, usesByIntegrations(projectId, name))),
    ...(await run(tx, usesByInstallations(projectId, name))),
  ];
  return uses.slice(0, USES_NAMED).map(({ use }) => use);
}

function usesByIntegrations(projectId: string, name: string) {
  const names = sql<boolean>`jsonb_path_exists(r."content",
    '$.*.objects[*] ? (@.destination == $name)', jsonb_build_object('name', ${name}::text))`;
  return statements
    .selectFrom('Integration as i')
    .innerJoin('Revision as r', 'r.id', 'i.latestRevisionId')
    .select(sql<string>`'integration ' || i."name"`.as('use'))
    .where('i.projectId', '=', projectId)
    .where(names)
    .limit(USES_NAMED);
}

function usesByInstallations(projectId: string, name: string) {
  const names = sql<boolean>`jsonb_path_exists(c."content",
    '$.*[*] ? (@.destination == $name)', jsonb_build_object('name', ${name}::text))`;
  return statements
    .selectFrom('Installation as i')
    .innerJoin('InstallationConfig as c', 'c.id', 'i.configId')
    .select(sql<string>`'installation ' || i."id"`.as('use'))
    .where('i.projectId', '=', projectId)
    .where(names)
    .limit(USES_NAMED);
}

/** Those of the names that are destinations; they stay so until the transaction ends. */
export async function holdDestinations(
  tx: Transaction,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  // In one order, so that two transactions never wait for each other.
  const found = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('name')
      .where('projectId', '=', projectId)
      .where('name', '=', anyOf(names))
      .orderBy('id')
      .forKeyShare(),
  );
  return new Set(found.map(({ name }) => name));
}

/**
 * The id of the destination, by its name. It can't be deleted until the transaction ends, so every delivery has a
 * destination. Throws UNPROCESSABLE.
 */
export async function holdDestination(
  tx: Transaction,
  projectId: string,
  name: string,
): Promise<string> {
  const [destination] = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('id')
      .where('projectId', '=', projectId)
      .where('name', '=', name)
      .forKeyShare(),
  );
  if (!destination) throw unprocessable(`The destination ${name} does not exist.`);
  return destination.id;
}
