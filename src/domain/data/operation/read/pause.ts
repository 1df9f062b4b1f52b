/** Pauses and resumes reads. While reads are paused, none starts by its schedule, and running reads stop after their page. */
import { z } from 'zod';
import type { Row } from '../../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { notifyWork } from '../../../../events/channel.ts';
import type { Issue } from '../../../../kernel/errors.ts';
import { id } from '../../../../kernel/ids.ts';
import type { RowCall, Services } from '../../../access/call.ts';
import type { InProject } from '../../../access/catalog.ts';
import { projectMutation } from '../../../access/declared-mutation.ts';
import { getProjectRow } from '../../../access/scope.ts';
import { orEndUser } from '../../../access/viewer/needs.ts';
import { orNull } from '../../../base/input-schemas.ts';
import { createInputIssue, requireNoIssues } from '../../../base/issues.ts';
import { projectIdOrName } from '../../../base/names.ts';
import { readConfigContent } from '../../../integrations/installation/installation-config.ts';
import { lockInstallation } from '../../../integrations/installation/installation-rows.ts';
import { resolveSchedule } from '../../../integrations/installation/installed-object.ts';
import { getNextRunTime } from '../../../integrations/integration/cron.ts';
import { lockContent } from '../../../integrations/integration/integration.ts';
import type { IntegrationContent } from '../../../integrations/integration/integration-content.ts';
import {
  CONTENT_LIMITS,
  contentText,
} from '../../../integrations/integration/integration-content-input.ts';
import { logOperation } from '../operation-work.ts';
import { findProviderName } from './read-plan.ts';
import { READ_KIND, recordWait } from './read-run.ts';

const NOTE_LENGTH_MAX = 1_000;

const readControlInput = z.object({
  projectIdOrName,
  installationId: id.describe('The id of the installation.'),
  objects: orNull(z.array(contentText).max(CONTENT_LIMITS.objects)).describe(
    "The objects, by their mapped names or the provider's. Default: all.",
  ),
  note: orNull(z.string().max(NOTE_LENGTH_MAX)).describe(
    'A human-readable reason, at most 1000 characters.',
  ),
});

const pauseReadsInput = readControlInput.meta({
  id: 'PauseReadsInput',
  description:
    'The installation, and the objects whose reads to pause. Scheduled reads do not begin, and running reads stop after their page. A read can still be triggered.',
});

const resumeReadsInput = readControlInput.meta({
  id: 'ResumeReadsInput',
  description:
    'The installation, and the objects whose reads to resume. Running reads continue with their next page, and others follow their schedules.',
});

export const pauseReads = projectMutation({
  description:
    'Pauses reads of an installation. Running reads stop after their page. triggerRead still works.',
  needs: orEndUser('reads:control', 'READ'),
  input: pauseReadsInput,
  run: (call, input, { id: projectId }) =>
    changeObjects(call, { ...input, projectId }, async (tx, { where, note }) => {
      await tx.installedObject.updateMany({
        where: { ...where, paused: false },
        data: { paused: true, pausedSince: call.now(), pauseNote: note, nextReadTime: null },
      });
      await pauseRuns(tx, where, call.now());
    }),
});

/**
 * A read that was paused while it ran continues with its next page. Any other object is read at its next scheduled time,
 * with a window that begins where the last window ended.
 */
export const resumeReads = projectMutation({
  description: 'Resumes paused reads. Running reads continue with their next page.',
  needs: orEndUser('reads:control', 'READ'),
  input: resumeReadsInput,
  run: (call, input, { id: projectId }) =>
    changeObjects(call, { ...input, projectId }, async (tx, objects) => {
      await resumeObjects(tx, objects, call.now());
      await resumeRuns(call, tx, objects.where);
    }),
});

async function resumeObjects(
  tx: Transaction,
  { where, note, installation, content }: ObjectsToChange,
  now: Date,
): Promise<void> {
  const pausedObjects = await tx.installedObject.findMany({ where: { ...where, paused: true } });
  const config = await tx.installationConfig.findUniqueOrThrow({
    where: { projectId_id: { projectId: installation.projectId, id: installation.configId } },
  });
  for (const { projectId, installationId, objectName } of pausedObjects) {
    const spec = content.read?.objects.find((object) => object.objectName === objectName);
    const choice = readConfigContent(config).read.find(
      (object) => object.objectName === objectName,
    );
    const schedule = resolveSchedule(spec, choice);
    const nextReadTime = schedule && getNextRunTime(schedule, now);
    await tx.installedObject.update({
      where: { projectId_installationId_objectName: { projectId, installationId, objectName } },
      data: { paused: false, pauseNote: note, consecutiveFailures: 0, nextReadTime },
    });
  }
}

/** Selects the objects of an installation and their runs. */
interface ObjectFilter {
  projectId: string;
  installationId: string;
  objectName?: { in: string[] };
}

interface ObjectsToChange {
  where: ObjectFilter;
  note: string | null;
  installation: Row<'Installation'>;
  content: IntegrationContent;
}

/** Changes the objects that the input names. Takes the locks that serialize changes of one installation. */
async function changeObjects(
  call: InProject<RowCall>,
  input: z.output<typeof readControlInput> & { projectId: string },
  change: (tx: Transaction, objects: ObjectsToChange) => Promise<void>,
): Promise<Row<'Installation'>> {
  const { projectId, installationId, objects, note } = input;
  const key = { projectId, id: installationId };
  const { integrationId } = await getProjectRow(call, 'Installation', {
    ...key,
    noun: 'Installation',
  });
  return inTransaction(call.database, async (tx) => {
    const content = await lockContent(tx, { id: integrationId, projectId });
    const installation = await lockInstallation(tx, key);
    const allObjects: ObjectFilter = { projectId, installationId };
    const installedObjects = await tx.installedObject.findMany({ where: allObjects });
    const installedNames = new Set(installedObjects.map(({ objectName }) => objectName));
    const resolveName = (name: string) =>
      installedNames.has(name) ? name : findProviderName(call, content, name);
    const isInstalled = (name: string) => installedNames.has(resolveName(name) ?? '');
    requireNoIssues(listUnknownIssues(objects ?? [], isInstalled));
    const objectNames = objects?.flatMap((name) => resolveName(name) ?? []);
    const where = { ...allObjects, ...(objectNames && { objectName: { in: objectNames } }) };
    await change(tx, { where, note, installation, content });
    return installation;
  });
}

function* listUnknownIssues(
  objects: readonly string[],
  isInstalled: (name: string) => boolean,
): Generator<Issue> {
  for (const [index, name] of objects.entries()) {
    if (isInstalled(name)) continue;
    yield createInputIssue(
      ['objects', index],
      'is not an object that the installation reads.',
      name,
    );
  }
}

/** Pauses runs: workers stop after their page, and claim no paused run. The caller must hold the objects' locks. */
async function pauseRuns(tx: Transaction, where: ObjectFilter, now: Date): Promise<void> {
  const pausedRuns = await tx.readRun.updateManyAndReturn({
    where: { ...where, paused: false },
    data: { paused: true },
  });
  for (const run of pausedRuns) await recordWait(tx, run, { reason: 'Read paused', now });
}

/** Resumes runs, which continue after the last recorded page. */
async function resumeRuns(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  where: ObjectFilter,
): Promise<void> {
  const resumedRuns = await tx.readRun.updateManyAndReturn({
    where: { ...where, paused: true },
    data: { paused: false },
  });
  for (const run of resumedRuns) {
    const { operationId: id, projectId, objectName } = run;
    await tx.operation.updateMany({
      where: { id, projectId, status: 'IN_PROGRESS' },
      data: { result: null, updateTime: now() },
    });
    const message = `[${objectName}] Read resumed`;
    await logOperation(tx, { id, projectId }, { severity: 'INFO', message });
  }
  if (resumedRuns.length > 0) notifyWork(tx, READ_KIND);
}
