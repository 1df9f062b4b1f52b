/** What a new revision means for the objects that installations read. */
import type { Transaction } from '../../database/transaction.ts';
import { nextRunOf } from '../integration/cron.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';

/** Installations that a refusal names: enough to go and look. */
const USERS_NAMED = 20;

export const DROPPED_NOTE = 'A new revision of the integration no longer has this object.';

/** Who reads the objects, in words (`contacts by ins_...`): configs in force that don't disable them. */
export async function usersOfObjects(
  tx: Transaction,
  integrationId: string,
  objectNames: string[],
): Promise<string[]> {
  const users = await tx.$queryRaw<{ objectName: string; installationId: string }[]>`
    select choice."value"->>'objectName' as "objectName", i."id" as "installationId"
    from "Installation" i
    join "InstallationConfig" c on c."id" = i."configId"
    cross join lateral jsonb_array_elements(c."content"->'read') choice
    where i."integrationId" = ${integrationId}
      and choice."value"->>'objectName' = any(${objectNames}::text[])
      and choice."value"->>'disabled' = 'false'
    order by i."id" limit ${USERS_NAMED}::int`;
  return users.map(({ objectName, installationId }) => `${objectName} by ${installationId}`);
}

/** Those that people paused before keep their note. */
export async function pauseDroppedObjects(
  tx: Transaction,
  integrationId: string,
  objectNames: string[],
): Promise<void> {
  await tx.installedObject.updateMany({
    where: { installation: { integrationId }, objectName: { in: objectNames }, paused: false },
    data: { paused: true, pauseNote: DROPPED_NOTE, nextReadTime: null },
  });
}

/** Objects whose schedule is another now are read by it from now on, where no config has its own. */
export async function rescheduleObjects(
  tx: Transaction,
  revision: {
    integrationId: string;
    before: IntegrationContent;
    content: IntegrationContent;
    now: Date;
  },
): Promise<void> {
  const { integrationId, before, content, now } = revision;
  const earlier = new Map(
    before.read?.objects.map((object) => [object.objectName, object.schedule]),
  );
  for (const { objectName, schedule } of content.read?.objects ?? []) {
    if (!earlier.has(objectName) || earlier.get(objectName) === schedule) continue;
    const nextReadTime = schedule && nextRunOf(schedule, now);
    await tx.$executeRaw`
      update "InstalledObject" o set "nextReadTime" = ${nextReadTime}::timestamptz
      from "Installation" i join "InstallationConfig" c on c."id" = i."configId"
      cross join lateral jsonb_array_elements(c."content"->'read') choice
      where i."integrationId" = ${integrationId} and o."installationId" = i."id"
        and o."objectName" = ${objectName} and not o."paused"
        and choice."value"->>'objectName' = ${objectName}
        and choice."value"->>'disabled' = 'false' and choice."value"->>'schedule' is null`;
  }
}
