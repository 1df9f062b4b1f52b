/** The state of each read object of an installation: when it was read, and when it will be. */
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
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

interface ObjectsToSet {
  installation: { id: string; projectId: string };
  content: IntegrationContent;
  /** The config in force until now; none for a new installation. */
  before?: ConfigContent;
  config: ConfigContent;
  now: Date;
}

/**
 * Brings an installation's objects in line with its config: what stays keeps its state, and its next
 * read too unless its schedule is another; what is left out goes.
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
      const schedule = scheduleOf(specs.get(objectName), choice);
      const nextReadTime = schedule && nextRunOf(schedule, now);
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
