/**
 * What names a destination: integrations' latest revisions, and installations' configs in force. They
 * name it by its name, inside JSON, so these locks stand where a foreign key can't, and a table tells who does.
 */
import { anyOf, run, sql, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { unprocessable } from '../../errors.ts';
import type { LockedDestination } from '../../events/enqueue-messages.ts';

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
  return statements
    .selectFrom('DestinationUse as u')
    .innerJoin('Integration as i', (join) =>
      join.onRef('i.projectId', '=', 'u.projectId').onRef('i.id', '=', 'u.integrationId'),
    )
    .select(sql<string>`'integration ' || i."name"`.as('use'))
    .where('u.projectId', '=', projectId)
    .where('u.destinationName', '=', name)
    .limit(USES_NAMED);
}

function usesByInstallations(projectId: string, name: string) {
  return statements
    .selectFrom('DestinationUse')
    .select(sql<string>`'installation ' || "installationId"`.as('use'))
    .where('projectId', '=', projectId)
    .where('destinationName', '=', name)
    .where('installationId', 'is not', null)
    .limit(USES_NAMED);
}

/** An integration with its latest revision, or an installation with its config in force. */
type User = { projectId: string } & ({ integrationId: string } | { installationId: string });

/**
 * Notes which destinations a content names, in place of what the user named before. To be called in the transaction
 * that makes it the one in force; the destinations are held.
 */
export async function noteDestinationUses(
  tx: Transaction,
  user: User,
  content: object,
): Promise<void> {
  const userId = 'integrationId' in user ? user.integrationId : user.installationId;
  await tx.destinationUse.deleteMany({ where: user });
  const names = destinationsIn(content);
  if (names.length === 0) return;
  const data = names.map((destinationName) => ({ ...user, userId, destinationName }));
  await tx.destinationUse.createMany({ data });
}

/** Each once: of every part of a content or a config, and of its objects. */
function destinationsIn(content: object): string[] {
  const parts: unknown[] = Object.values(content).flatMap((part) => part?.objects ?? part);
  const named = parts.map((part) => (part as { destination?: unknown } | null)?.destination);
  return [...new Set(named.filter((name) => typeof name === 'string'))];
}

/** Those of the names that are destinations; they stay so until the transaction ends. */
export async function lockDestinations(
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
 * The destination, by its name. It can't be deleted until the transaction ends, so every message has a destination.
 * Throws UNPROCESSABLE.
 */
export async function lockDestination(
  tx: Transaction,
  projectId: string,
  name: string,
): Promise<LockedDestination> {
  const [destination] = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select(['id', 'projectId', 'type'])
      .where('projectId', '=', projectId)
      .where('name', '=', name)
      .forKeyShare(),
  );
  if (!destination) throw unprocessable(`The destination ${name} does not exist.`);
  return destination;
}
