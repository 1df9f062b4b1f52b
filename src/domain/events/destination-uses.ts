/**
 * Tracks which integrations (in their latest revisions) and installations (in their current configs) use a destination.
 * They name it in JSON, so no foreign key can protect it. The table DestinationUse and row locks protect it instead.
 */
import { anyOf, run, sql, statements } from '../../database/statements/statements.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import type { LockedDestination } from '../../events/enqueue-messages.ts';
import { conflict, unprocessable } from '../../kernel/errors.ts';

/** The maximum number of uses that an error message lists. */
const USES_MAX = 10;

/**
 * Returns up to ten uses of the destination, such as `integration contacts-sync`. Locks the destination until the end
 * of the transaction, so that no new use can begin. Must run before a rename or a deletion.
 */
export async function listDestinationUses(
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
    ...(await run(tx, selectUsesByIntegrations(projectId, name))),
    ...(await run(tx, selectUsesByInstallations(projectId, name))),
  ];
  return uses.slice(0, USES_MAX).map(({ use }) => use);
}

/** Throws CONFLICT if the destination is used. Locks it like `listDestinationUses`. */
export async function refuseIfUsed(
  tx: Transaction,
  { projectId, name }: { projectId: string; name: string },
): Promise<void> {
  const uses = await listDestinationUses(tx, projectId, name);
  if (uses.length === 0) return;
  throw conflict(
    `The destination ${name} is used by ${uses.join(', ')}. Change them to another destination first.`,
  );
}

function selectUsesByIntegrations(projectId: string, name: string) {
  return statements
    .selectFrom('DestinationUse')
    .innerJoin('Integration', (join) =>
      join
        .onRef('Integration.projectId', '=', 'DestinationUse.projectId')
        .onRef('Integration.id', '=', 'DestinationUse.integrationId'),
    )
    .select(sql<string>`'integration ' || "Integration"."name"`.as('use'))
    .where('DestinationUse.projectId', '=', projectId)
    .where('DestinationUse.destinationName', '=', name)
    .limit(USES_MAX);
}

function selectUsesByInstallations(projectId: string, name: string) {
  return statements
    .selectFrom('DestinationUse')
    .select(sql<string>`'installation ' || "installationId"`.as('use'))
    .where('projectId', '=', projectId)
    .where('destinationName', '=', name)
    .where('installationId', 'is not', null)
    .limit(USES_MAX);
}

/** An integration with its latest revision, or an installation with its current config. */
type UsedBy = { projectId: string } & ({ integrationId: string } | { installationId: string });

/**
 * Replaces the recorded uses of an integration or installation with the destinations that `content` names. Must run in
 * the transaction that makes the content current, with the destinations locked.
 */
export async function recordDestinationUses(
  tx: Transaction,
  usedBy: UsedBy,
  content: object,
): Promise<void> {
  const usedById = 'integrationId' in usedBy ? usedBy.integrationId : usedBy.installationId;
  await tx.destinationUse.deleteMany({ where: usedBy });
  const names = listDestinationNames(content);
  if (names.length === 0) return;
  const data = names.map((destinationName) => ({ ...usedBy, usedById, destinationName }));
  await tx.destinationUse.createMany({ data });
}

/** Lists the names of the destinations in a content or config: in its sections, or in their objects. */
function listDestinationNames(content: object): string[] {
  const members: unknown[] = Object.values(content).flatMap(
    (section) => section?.objects ?? section,
  );
  const destinations = members.map(
    (member) => (member as { destination?: unknown } | null)?.destination,
  );
  return [...new Set(destinations.filter((name) => typeof name === 'string'))];
}

/** Locks the destinations with these names until the transaction ends. Returns the names that exist. */
export async function lockDestinations(
  tx: Transaction,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  // All transactions lock in the same order, which prevents deadlocks.
  const rows = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('name')
      .where('projectId', '=', projectId)
      .where('name', '=', anyOf(names))
      .orderBy('id')
      .forKeyShare(),
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Returns the destination with the name, and locks it against deletion until the transaction ends. Throws UNPROCESSABLE
 * if it does not exist.
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
