/** Starts the scheduled reads of objects that are due, and sets the times of their next reads. */
import { acrossProjects, sweep } from '../../../../database/statements/projects/all-projects.ts';
import { anyOf, run, sql } from '../../../../database/statements/statements.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { lockedWork } from '../../../../jobs/upkeep-loop.ts';
import type { CoreServices, ProviderServices, RowServices } from '../../../access/call.ts';
import type { Catalog } from '../../../access/catalog.ts';
import { BACKLOG_WAIT_SECONDS, isBacklogged } from '../../../events/delivery-backlog.ts';
import { listUnmappedNames } from '../../../integrations/installation/choice/mapped-names.ts';
import type { ReadConfig } from '../../../integrations/installation/installation-config.ts';
import {
  resolveBackfill,
  resolveSchedule,
} from '../../../integrations/installation/installed-object.ts';
import { JOINED_CONTENTS } from '../../../integrations/installation/rows-of-installations.ts';
import { getNextRunTime } from '../../../integrations/integration/cron.ts';
import type { ReadObject } from '../../../integrations/integration/integration-content.ts';
import type { InstallationAtWork } from '../operation-work.ts';
import { computeReadTiming, createReadWindow } from './read-plan.ts';
import { startRun } from './read-run.ts';

/** The maximum number of objects in one transaction. A short transaction leaves the next objects to other processes. */
const TRANSACTION_OBJECTS_MAX = 25;
/** A due object with everything that determines whether and how it is read. Its row is locked. */
interface DueObject extends InstallationAtWork {
  objectName: string;
  provider: string;
  module: string | null;
  backfillDone: boolean;
  readUntil: Date | null;
  isRunning: boolean;
  spec: ReadObject | null;
  choice: ReadConfig | null;
}

/** Starts the scheduled reads of due objects, which workers then run. */
export const scheduledReads = lockedWork({
  name: 'scheduled reads',
  createDueTimeSql: (inProjects) => `select "nextReadTime" from "InstalledObject"
    where ${inProjects('"projectId"')} and "nextReadTime" is not null and not "paused" order by "nextReadTime" limit 1`,
  advance: startDueReads,
});

/**
 * Starts the reads of some due objects, and returns true if more may be due. Safe in several processes in parallel: only
 * one of them locks an object.
 */
export async function startDueReads(services: ProviderServices): Promise<boolean> {
  const projectIds = await listDueProjects(services);
  if (projectIds.length === 0) return false;
  const backloggedProjects = await listBackloggedProjects(services, projectIds);
  const catalogs = await loadCatalogs(services, projectIds);
  return inTransaction(services.database, async (tx) => {
    const objects = await lockDueObjects(tx, projectIds, services.now());
    for (const object of objects)
      await startOrPostpone(services, tx, { object, backloggedProjects, catalogs });
    return objects.length === TRANSACTION_OBJECTS_MAX;
  });
}

const SELECT_DUE_PROJECTS = acrossProjects<{ projectId: string }>(
  'objects with due reads',
  (inProjects) => `select distinct "projectId" from (
     select "projectId" from "InstalledObject" where ${inProjects('"projectId"')} and "nextReadTime" <= $1 and not "paused"
     order by "nextReadTime" limit ${2 * TRANSACTION_OBJECTS_MAX}) due`,
);

/** Lists the projects of the objects that are due next. */
async function listDueProjects({ database, now }: RowServices): Promise<string[]> {
  const rows = await sweep(database, SELECT_DUE_PROJECTS, [now()]);
  return rows.map(({ projectId }) => projectId);
}

/** Returns the catalogs by project. Must run before the transaction, in which no other statement may wait. */
async function loadCatalogs(
  { catalogs }: ProviderServices,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, Catalog>> {
  const entries = projectIds.map(async (id) => [id, await catalogs.getOfProject(id)] as const);
  return new Map(await Promise.all(entries));
}

/** Returns the projects that have too many pending deliveries. */
async function listBackloggedProjects(
  services: CoreServices,
  projectIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const backloggedProjects = new Set<string>();
  for (const projectId of projectIds) {
    if (await isBacklogged(services, projectId)) backloggedProjects.add(projectId);
  }
  return backloggedProjects;
}

function lockDueObjects(
  tx: Transaction,
  projectIds: readonly string[],
  now: Date,
): Promise<DueObject[]> {
  return run(
    tx,
    sql<DueObject>`
      select installation."id", installation."projectId", installation."integrationId", installation."configId",
        installation."groupId", installation."connectionId",
        object."objectName", object."backfillDone", object."readUntil",
        revision."content"->>'provider' as "provider", revision."content"->>'module' as "module",
        exists (select 1 from "ReadRun" run
          where run."projectId" = installation."projectId" and run."installationId" = installation."id"
          and run."objectName" = object."objectName" and run."nextReadUntil" is not null) as "isRunning",
        (select spec from jsonb_array_elements(revision."content"->'read'->'objects') spec
          where spec->>'objectName' = object."objectName") as "spec",
        (select choice from jsonb_array_elements(config."content"->'read') choice
          where choice->>'objectName' = object."objectName") as "choice"
      from (select * from "InstalledObject"
        where "projectId" = ${anyOf(projectIds)} and "nextReadTime" <= ${now} and not "paused"
        order by "nextReadTime" limit ${sql.lit(TRANSACTION_OBJECTS_MAX)} for update skip locked) object
      cross join lateral (select * from "Installation"
        where "projectId" = object."projectId" and "id" = object."installationId" offset 0) installation
        ${sql.raw(JOINED_CONTENTS)}
      order by object."nextReadTime"`,
  );
}

interface StartContext {
  object: DueObject;
  backloggedProjects: ReadonlySet<string>;
  catalogs: ReadonlyMap<string, Catalog>;
}

/** Starts the object's read, unless it must wait. Sets the time of the next read. */
async function startOrPostpone(
  services: RowServices,
  tx: Transaction,
  { object, backloggedProjects, catalogs }: StartContext,
): Promise<void> {
  const { id: installationId, projectId, objectName, choice, spec } = object;
  const now = services.now();
  const schedule = resolveSchedule(spec, choice);
  const mustWait = backloggedProjects.has(projectId);
  const nextReadTime = mustWait
    ? new Date(now.getTime() + BACKLOG_WAIT_SECONDS * 1_000)
    : schedule && getNextRunTime(schedule, now);
  await tx.installedObject.updateMany({
    where: { projectId, installationId, objectName },
    data: { nextReadTime },
  });
  // One read of an object runs at a time. If it takes longer than its schedule, the next read is skipped.
  if (!schedule || mustWait || object.isRunning) return;
  // The read waits until every required name is mapped. Records that were read before would stay incomplete.
  if (spec && choice && listUnmappedNames(spec, choice).length > 0) return;
  const provider = catalogs.get(projectId)?.findWithModule(object.provider, object.module) ?? null;
  const timing = computeReadTiming(provider, objectName);
  const window = createReadWindow(object, { backfill: resolveBackfill(spec, choice), timing }, now);
  const input = { installation: object, objectName, ...window };
  const { operation } = await startRun(tx, input, services.database);
  if (window.readType === 'BACKFILL') {
    await tx.installedObject.updateMany({
      where: { projectId, installationId, objectName },
      data: { backfillOperationId: operation.id },
    });
  }
}
