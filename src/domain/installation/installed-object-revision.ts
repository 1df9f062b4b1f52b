/** What a new revision means for the objects that installations read. */
import { anyOf, run, runChange, sql, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { nextRunOf } from '../integration/cron.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';

/** Installations that a refusal names: enough to go and look. */
const USERS_NAMED = 20;

interface IntegrationKey {
  projectId: string;
  integrationId: string;
}

export const DROPPED_NOTE = 'A new revision of the integration no longer has this object.';

/** Who reads the objects, in words (`contacts by ins_...`): configs in force that don't disable them. */
export async function usersOfObjects(
  tx: Transaction,
  { projectId, integrationId }: IntegrationKey,
  objectNames: string[],
): Promise<string[]> {
  const users = await run(
    tx,
    statements
      .selectFrom('Installation as i')
      .innerJoin('InstallationConfig as c', (join) =>
        join.onRef('c.projectId', '=', 'i.projectId').onRef('c.id', '=', 'i.configId'),
      )
      .crossJoinLateral(choicesOf('c'))
      .select([
        sql<string>`choice."value"->>'objectName'`.as('objectName'),
        'i.id as installationId',
      ])
      .where('i.projectId', '=', projectId)
      .where('i.integrationId', '=', integrationId)
      .where(sql<string>`choice."value"->>'objectName'`, '=', anyOf(objectNames))
      .where(sql<string>`choice."value"->>'disabled'`, '=', 'false')
      .orderBy('i.id')
      .limit(USERS_NAMED),
  );
  return users.map(({ objectName, installationId }) => `${objectName} by ${installationId}`);
}

/** Objects that people paused before keep their own note. */
export async function pauseDroppedObjects(
  tx: Transaction,
  { projectId, integrationId }: IntegrationKey,
  objectNames: string[],
): Promise<void> {
  await tx.installedObject.updateMany({
    where: {
      projectId,
      installation: { projectId, integrationId },
      objectName: { in: objectNames },
      paused: false,
    },
    data: { paused: true, pauseNote: DROPPED_NOTE, nextReadTime: null },
  });
}

/** Objects whose schedule has changed are read by it from now on, if no config has its own. */
export async function rescheduleObjects(
  tx: Transaction,
  revision: IntegrationKey & {
    before: IntegrationContent;
    content: IntegrationContent;
    now: Date;
  },
): Promise<void> {
  const { before, content, now, ...key } = revision;
  const earlier = new Map(
    before.read?.objects.map((object) => [object.objectName, object.schedule]),
  );
  for (const { objectName, schedule } of content.read?.objects ?? []) {
    if (!earlier.has(objectName) || earlier.get(objectName) === schedule) continue;
    const nextReadTime = schedule ? nextRunOf(schedule, now) : null;
    await runChange(
      tx,
      statements
        .updateTable('InstalledObject')
        .set({ nextReadTime })
        .where('projectId', '=', key.projectId)
        .where('objectName', '=', objectName)
        .where((eb) => eb.not('paused'))
        .where('installationId', 'in', withoutSchedule(key, objectName)),
    );
  }
}

/** Installations whose config in force reads the object when the integration says. */
function withoutSchedule({ projectId, integrationId }: IntegrationKey, objectName: string) {
  return statements
    .selectFrom('Installation as i')
    .innerJoin('InstallationConfig as c', (join) =>
      join.onRef('c.projectId', '=', 'i.projectId').onRef('c.id', '=', 'i.configId'),
    )
    .crossJoinLateral(choicesOf('c'))
    .select('i.id')
    .where('i.projectId', '=', projectId)
    .where('i.integrationId', '=', integrationId)
    .where(sql<string>`choice."value"->>'objectName'`, '=', objectName)
    .where(sql<string>`choice."value"->>'disabled'`, '=', 'false')
    .where(sql<string>`choice."value"->>'schedule'`, 'is', null);
}

/** What a config chose for each object that it reads. */
function choicesOf(config: string) {
  const content = sql.ref(`${config}.content`);
  return sql<{ value: unknown }>`jsonb_array_elements(${content}->'read')`.as<'choice'>(
    sql`choice`,
  );
}
