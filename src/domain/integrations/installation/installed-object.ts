/** The state of each read object of an installation: its last and its next read. */

import { z } from 'zod';
import { RELEASED_LEASE } from '../../../database/leases/lease.ts';
import { sqlStatement } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { notifyUpkeep } from '../../../events/channel.ts';
import { resource } from '../../base/resource.ts';
import { printedColumn } from '../../base/stored-text.ts';
import type { BackfillPeriod } from '../integration/backfill-period.ts';
import { getNextRunTime } from '../integration/cron.ts';
import type { IntegrationContent, ReadObject } from '../integration/integration-content.ts';
import type { ConfigContent, ReadConfig } from './installation-config.ts';
import { createInstallationBatch, REQUESTED_INSTALLATIONS } from './rows-of-installations.ts';

type InstalledObject = Row<'InstalledObject'>;

/** The state of an object with its settings from the integration and the config. */
export interface InstalledObjectView extends InstalledObject {
  mappedObjectName: string | null;
  schedule: string | null;
}

export const installedObjectResource = resource(
  'InstalledObject',
  'The progress of the reads of one object of an installation.',
  {
    objectName: z.string().describe("The provider's name of the object, like `contacts`."),
    mappedObjectName: z
      .string()
      .nullable()
      .describe('The name that the integration maps the object to; {null} if there is none.'),
    schedule: z
      .string()
      .nullable()
      .describe(
        "A cron expression of five fields, in UTC: the config's, otherwise the integration's; {null} if there is none.",
      ),
    paused: z.boolean().describe('Whether its scheduled reads are paused.'),
    pauseNote: printedColumn(
      'pauseNote',
      z
        .string()
        .nullable()
        .describe(
          'The note of the last change that paused or resumed its reads. {Null} without a note.',
        ),
    ),
    nextReadTime: z
      .date()
      .nullable()
      .describe('When its next scheduled read is due; {null} if none is.'),
    lastReadTime: z.date().nullable().describe('When it was last read; {null} if it never was.'),
    backfillDone: z.boolean().describe('Whether its first read has finished.'),
    recordsRead: z
      .int()
      .describe('The total number of records that were read, including the first read.'),
  },
);

/**
 * Loads the objects of installations in the order of the manifest, which forms have too. Objects that the manifest no
 * longer has come last. A disabled object also has its `schedule`.
 */
export const loadInstalledObjects = createInstallationBatch(
  sqlStatement<InstalledObjectView>(`
  select object.*, spec."value"->>'mapToName' as "mappedObjectName",
    coalesce(choice."value"->>'schedule', spec."value"->>'schedule') as "schedule"
  from ${REQUESTED_INSTALLATIONS}
  join "InstalledObject" object on object."projectId" = installation."projectId"
    and object."installationId" = installation."id"
  left join lateral jsonb_array_elements(revision."content"->'read'->'objects')
    with ordinality spec("value", "number") on spec."value"->>'objectName' = object."objectName"
  left join lateral jsonb_array_elements(config."content"->'read') choice
    on choice."value"->>'objectName' = object."objectName"
  order by object."installationId", spec."number", object."objectName"`),
);

/**
 * Returns the schedule of an object. Null if it is not read automatically: it has no schedule, or the config
 * disables it.
 */
export function resolveSchedule(
  spec: Pick<ReadObject, 'schedule'> | null | undefined,
  choice: Pick<ReadConfig, 'schedule' | 'disabled'> | null | undefined,
): string | null {
  if (!spec || !choice || choice.disabled) return null;
  return choice.schedule ?? spec.schedule;
}

/** Returns the period of the first read: the customer's choice, otherwise the integration's. Null means all records. */
export function resolveBackfill(
  spec: Pick<ReadObject, 'backfill'> | null,
  choice: Pick<ReadConfig, 'backfill'> | null,
): BackfillPeriod | null {
  return choice?.backfill ?? spec?.backfill?.defaultPeriod ?? null;
}

/** Returns the time of the first read. A read that backfills no records waits for the schedule. */
function findFirstRunTime(
  schedule: string,
  backfill: BackfillPeriod | null,
  now: Date,
): Date | null {
  return backfill?.days === 0 ? getNextRunTime(schedule, now) : now;
}

interface ObjectsToSet {
  installation: { id: string; projectId: string };
  content: IntegrationContent;
  /** The previous config. Absent for a new installation. */
  before?: ConfigContent;
  config: ConfigContent;
  now: Date;
}

/**
 * Updates an installation's objects to match its config. The first read of a new scheduled object starts immediately if it
 * backfills records. An existing object keeps its state. If its schedule changed, its next read is rescheduled. Objects
 * that are absent from the config are deleted.
 */
export async function setInstalledObjects(
  tx: Transaction,
  { installation, content, before = { read: [], write: [] }, config, now }: ObjectsToSet,
): Promise<void> {
  const { id: installationId, projectId } = installation;
  const specs = new Map(content.read?.objects.map((object) => [object.objectName, object]));
  const previousChoices = new Map(before.read.map((choice) => [choice.objectName, choice]));
  const names = config.read.map(({ objectName }) => objectName);
  const removedObjects = { projectId, installationId, objectName: { notIn: names } };
  await tx.installedObject.deleteMany({ where: removedObjects });
  await abandonReads(tx, removedObjects);
  await tx.installedObject.createMany({
    data: config.read.map((choice) => {
      const { objectName } = choice;
      const spec = specs.get(objectName);
      const schedule = resolveSchedule(spec, choice);
      const nextReadTime =
        schedule && findFirstRunTime(schedule, resolveBackfill(spec ?? null, choice), now);
      return { installationId, projectId, objectName, nextReadTime };
    }),
    skipDuplicates: true,
  });
  notifyUpkeep(tx);
  for (const choice of config.read) {
    const { objectName } = choice;
    const spec = specs.get(objectName);
    const previousChoice = previousChoices.get(objectName);
    const schedule = resolveSchedule(spec, choice);
    if (!previousChoice || schedule === resolveSchedule(spec, previousChoice)) continue;
    await tx.installedObject.updateMany({
      where: { projectId, installationId, objectName, paused: false },
      data: { nextReadTime: schedule && getNextRunTime(schedule, now) },
    });
  }
}

/**
 * Makes reads of deleted objects end, paused ones too. If an object is added again before its read has ended, the read
 * stores no further page and does not count as the backfill of the new object, which may have a longer period.
 */
async function abandonReads(
  tx: Transaction,
  removedObjects: { projectId: string; installationId: string; objectName: { notIn: string[] } },
): Promise<void> {
  await tx.readRun.updateMany({
    where: removedObjects,
    data: { paused: false, nextReadUntil: null, ...RELEASED_LEASE },
  });
}
