/** The state of each read object of an installation: when it was read, and when it will be. */
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { BackfillPeriod } from '../integration/backfill-period.ts';
import { nextRunOf } from '../integration/cron.ts';
import type { IntegrationContent, ReadObject } from '../integration/integration-content.ts';
import type { ConfigContent, ReadConfig } from './installation-config.ts';
import { ASKED_INSTALLATIONS, rowsOfInstallations } from './rows-of-installations.ts';

type InstalledObject = Row<'InstalledObject'>;

/** An object's state beside what the integration and the config say of it. */
export interface InstalledObjectView extends InstalledObject {
  mappedObjectName: string | null;
  schedule: string | null;
}

/** The objects of installations that the viewer has found, by name. */
export const installedObjects = rowsOfInstallations<InstalledObjectView>(`
  select o.*, spec."value"->>'mapToName' as "mappedObjectName",
    coalesce(choice."value"->>'schedule', spec."value"->>'schedule') as "schedule"
  from ${ASKED_INSTALLATIONS}
  join "InstalledObject" o on o."projectId" = i."projectId" and o."installationId" = i."id"
  left join lateral jsonb_array_elements(r."content"->'read'->'objects') spec
    on spec."value"->>'objectName' = o."objectName"
  left join lateral jsonb_array_elements(c."content"->'read') choice
    on choice."value"->>'objectName' = o."objectName"
  order by o."installationId", o."objectName"`);

/** Null: not read by itself, because nothing is scheduled, or the config disables it. */
export function scheduleOf(
  spec: Pick<ReadObject, 'schedule'> | null | undefined,
  choice: Pick<ReadConfig, 'schedule' | 'disabled'> | null | undefined,
): string | null {
  if (!spec || !choice || choice.disabled) return null;
  return choice.schedule ?? spec.schedule;
}

/** How far back the first read goes: the customer's choice, else the integration's; null: all records. */
export function backfillOf(
  spec: Pick<ReadObject, 'backfill'> | null,
  choice: Pick<ReadConfig, 'backfill'> | null,
): BackfillPeriod | null {
  return choice?.backfill ?? spec?.backfill?.defaultPeriod ?? null;
}

/** Without records to backfill, the first read marks where changes begin: it has the time of the schedule. */
function firstRunOf(schedule: string, backfill: BackfillPeriod | null, now: Date): Date | null {
  return backfill?.days === 0 ? nextRunOf(schedule, now) : now;
}

interface ObjectsToSet {
  installation: { id: string; projectId: string };
  content: IntegrationContent;
  /** The config in force until now; none for a new installation. */
  before?: ConfigContent;
  config: ConfigContent;
  now: Date;
}

/**
 * Brings an installation's objects in line with its config. The first read of a new scheduled object starts
 * immediately if it backfills records. An object that stays keeps its state, and its next read unless the schedule
 * has changed. Objects that the config leaves out are deleted.
 */
export async function setInstalledObjects(
  tx: Transaction,
  { installation, content, before = { read: [], write: [] }, config, now }: ObjectsToSet,
): Promise<void> {
  const { id: installationId, projectId } = installation;
  const specs = new Map(content.read?.objects.map((object) => [object.objectName, object]));
  const earlier = new Map(before.read.map((choice) => [choice.objectName, choice]));
  const names = config.read.map(({ objectName }) => objectName);
  const leftOut = { projectId, installationId, objectName: { notIn: names } };
  await tx.installedObject.deleteMany({ where: leftOut });
  // A paused read of what is gone goes on, to its end.
  await tx.readRun.updateMany({ where: { ...leftOut, paused: true }, data: { paused: false } });
  await tx.installedObject.createMany({
    data: config.read.map((choice) => {
      const { objectName } = choice;
      const spec = specs.get(objectName);
      const schedule = scheduleOf(spec, choice);
      const nextReadTime = schedule && firstRunOf(schedule, backfillOf(spec ?? null, choice), now);
      return { installationId, projectId, objectName, nextReadTime };
    }),
    skipDuplicates: true,
  });
  for (const choice of config.read) {
    const { objectName } = choice;
    const [spec, choiceBefore] = [specs.get(objectName), earlier.get(objectName)];
    const schedule = scheduleOf(spec, choice);
    if (!choiceBefore || schedule === scheduleOf(spec, choiceBefore)) continue;
    await tx.installedObject.updateMany({
      where: { projectId, installationId, objectName, paused: false },
      data: { nextReadTime: schedule && nextRunOf(schedule, now) },
    });
  }
}
