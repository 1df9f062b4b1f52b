/** Applies a new revision of an integration to the objects that its installations read. */
import { isNotErased } from '../../../database/statements/reads/hidden-rows.ts';
import { anyOf, run, sql, statements } from '../../../database/statements/statements.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { getNextRunTime } from '../integration/cron.ts';
import type { RevisionChange } from '../integration/integration-content.ts';

/** The maximum number of reads that an error lists: enough to start an investigation. */
const DESCRIBED_READS_MAX = 20;

type IntegrationKey = Pick<RevisionChange, 'projectId' | 'integrationId'>;

const CHOSEN_OBJECT = sql<string>`choice."value"->>'objectName'`;

export const DROPPED_NOTE = 'A new revision of the integration no longer has this object.';

/**
 * Describes which installations read the objects, for an error message (`contacts for acme (ins_...)`). Configs that disable an
 * object don't count.
 */
export async function describeReadsOfObjects(
  tx: Pick<Transaction, '$queryRawUnsafe'>,
  key: IntegrationKey,
  objectNames: string[],
): Promise<string[]> {
  const reads = await run(
    tx,
    selectReads(key)
      .innerJoin('Group', (join) =>
        join
          .onRef('Group.projectId', '=', 'Installation.projectId')
          .onRef('Group.id', '=', 'Installation.groupId'),
      )
      .select([CHOSEN_OBJECT.as('objectName'), 'groupRef', 'Installation.id as installationId'])
      .where(CHOSEN_OBJECT, '=', anyOf(objectNames))
      .orderBy('Installation.id')
      .limit(DESCRIBED_READS_MAX),
  );
  return reads.map(
    ({ objectName, groupRef, installationId }) =>
      `${objectName} for ${groupRef} (${installationId})`,
  );
}

/** Pauses the dropped objects. An object that is already paused keeps its note. */
export async function pauseDroppedObjects(
  tx: Transaction,
  { projectId, integrationId }: IntegrationKey,
  { objectNames, now }: { objectNames: string[]; now: Date },
): Promise<void> {
  await tx.installedObject.updateMany({
    where: {
      projectId,
      installation: { projectId, integrationId },
      objectName: { in: objectNames },
      paused: false,
    },
    data: { paused: true, pausedSince: now, pauseNote: DROPPED_NOTE, nextReadTime: null },
  });
}

/** Reschedules the objects whose schedule changed, except where a config has its own schedule. */
export async function rescheduleObjects(
  tx: Transaction,
  revision: RevisionChange & { now: Date },
): Promise<void> {
  const { before, after: content, now, ...key } = revision;
  const schedulesBefore = new Map(
    before.read?.objects.map((object) => [object.objectName, object.schedule]),
  );
  for (const { objectName, schedule } of content.read?.objects ?? []) {
    if (!schedulesBefore.has(objectName) || schedulesBefore.get(objectName) === schedule) continue;
    const nextReadTime = schedule ? getNextRunTime(schedule, now) : null;
    await run(
      tx,
      statements
        .updateTable('InstalledObject')
        .set({ nextReadTime })
        .where('projectId', '=', key.projectId)
        .where('objectName', '=', objectName)
        .where((eb) => eb.not('paused'))
        .where('installationId', 'in', selectInstallationsWithoutSchedule(key, objectName)),
    );
  }
}

/** Selects the installations that read the object on the integration's schedule. */
function selectInstallationsWithoutSchedule(key: IntegrationKey, objectName: string) {
  return selectReads(key)
    .select('Installation.id')
    .where(CHOSEN_OBJECT, '=', objectName)
    .where(sql<string>`choice."value"->>'schedule'`, 'is', null);
}

/** Selects the objects that configs of an integration read. Disabled objects are omitted. */
function selectReads({ projectId, integrationId }: IntegrationKey) {
  const choices = sql<{
    value: unknown;
  }>`jsonb_array_elements("InstallationConfig"."content"->'read')`;
  return statements
    .selectFrom('Installation')
    .innerJoin('InstallationConfig', (join) =>
      join
        .onRef('InstallationConfig.projectId', '=', 'Installation.projectId')
        .onRef('InstallationConfig.id', '=', 'Installation.configId'),
    )
    .crossJoinLateral(choices.as<'choice'>(sql`choice`))
    .where('Installation.projectId', '=', projectId)
    .where('Installation.integrationId', '=', integrationId)
    .where(isNotErased('Installation', 'groupId'))
    .where(sql<string>`choice."value"->>'disabled'`, '=', 'false');
}
