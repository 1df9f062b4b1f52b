/** Pauses and resumes reads: paused scheduled reads do not start, and running ones stop after their page. */
import { z } from 'zod';
import type { Row } from '../../../database/rows.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import type { Issue } from '../../../errors.ts';
import { id } from '../../../ids.ts';
import type { Call, Services } from '../../call.ts';
import { projectMutation } from '../../declared-mutation.ts';
import { readConfigContent } from '../../installation/installation-config.ts';
import { lockInstallation } from '../../installation/installation-rows.ts';
import { resolveSchedule } from '../../installation/installed-object.ts';
import { getNextRunTime } from '../../integration/cron.ts';
import { lockContent } from '../../integration/integration.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';
import { createInputIssue, requireNoIssues } from '../../issues.ts';
import { projectIdOrName } from '../../names.ts';
import { orNull } from '../../optional-value.ts';
import { getProjectRow } from '../../scope.ts';
import { orEndUser } from '../../viewer/needs.ts';
import { logOperation } from '../operation-work.ts';
import { findNativeName } from './read-plan.ts';
import { enqueueRun, recordWait } from './read-run.ts';

const NOTE_LENGTH_MAX = 1_000;

const input = z.object({
  projectIdOrName,
  installationId: id.describe('The id of the installation.'),
  objects: orNull(z.array(contentText).max(CONTENT_LIMITS.objects)).describe(
    "The objects, by their mapped names or the provider's. Default: all.",
  ),
  note: orNull(z.string().max(NOTE_LENGTH_MAX)).describe(
    'A human-readable reason, at most 1000 characters.',
  ),
});

const pauseReadsInput = input.meta({
  id: 'PauseReadsInput',
  description:
    'The installation, and the objects whose reads are paused: scheduled ones do not begin, and those under way stop after their page. A read can still be triggered.',
});

const resumeReadsInput = input.meta({
  id: 'ResumeReadsInput',
  description:
    'The installation, and the objects whose reads continue: from the page where they stopped, and by their schedules.',
});

export const pauseReads = projectMutation({
  description:
    'Pauses reads of an installation: those under way stop after their page. triggerRead still works.',
  needs: orEndUser('reads:control', 'READ'),
  input: pauseReadsInput,
  run: (call, control, { id: projectId }) =>
    changeObjects(call, { ...control, projectId }, async (tx, { where, note }) => {
      await tx.installedObject.updateMany({
        where: { ...where, paused: false },
        data: { paused: true, pausedSince: call.now(), pauseNote: note, nextReadTime: null },
      });
      await pauseRuns(tx, where, call.now());
    }),
});

/**
 * Resumes reads. Running ones continue with their next page. Others start at their next scheduled time, with a window
 * that begins where the last one ended.
 */
export const resumeReads = projectMutation({
  description:
    'Resumes reads that were paused. Reads that are under way continue with their next page.',
  needs: orEndUser('reads:control', 'READ'),
  input: resumeReadsInput,
  run: (call, control, { id: projectId }) =>
    changeObjects(call, { ...control, projectId }, async (tx, objects) => {
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
      data: { paused: false, pauseNote: note, failedRuns: 0, nextReadTime },
    });
  }
}

interface ObjectsToChange {
  where: { projectId: string; installationId: string; objectName?: { in: string[] } };
  note: string | null;
  installation: Row<'Installation'>;
  content: IntegrationContent;
}

/** Changes the objects that the input names. It takes the locks that serialize changes of one installation. */
async function changeObjects(
  call: Call,
  { projectId, installationId: id, objects, note }: z.output<typeof input> & { projectId: string },
  change: (tx: Transaction, objects: ObjectsToChange) => Promise<void>,
): Promise<Row<'Installation'>> {
  const key = { projectId, id };
  const visible = await getProjectRow(call, 'Installation', { ...key, noun: 'Installation' });
  return inTransaction(call.database, async (tx) => {
    const content = await lockContent(tx, { id: visible.integrationId, projectId });
    const installation = await lockInstallation(tx, key);
    const installationId = installation.id;
    const all = { projectId, installationId };
    const installedObjects = await tx.installedObject.findMany({ where: all });
    const names = new Set(installedObjects.map(({ objectName }) => objectName));
    const toNativeName = (name: string) =>
      names.has(name) ? name : findNativeName(call, content, name);
    const isInstalled = (name: string) => names.has(toNativeName(name) ?? '');
    requireNoIssues(listUnknownIssues(objects ?? [], isInstalled));
    const objectNames = objects?.flatMap((name) => toNativeName(name) ?? []);
    const where = { ...all, ...(objectNames && { objectName: { in: objectNames } }) };
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
      ['input', 'objects', index],
      'is not an object that the installation reads.',
      name,
    );
  }
}

/** Selects runs to pause or resume. */
interface Runs {
  projectId: string;
  installationId: string;
  objectName?: { in: string[] };
}

/**
 * Pauses runs: workers stop after their page, and claim no paused run. The caller must hold the locks of the objects.
 */
async function pauseRuns(tx: Transaction, runs: Runs, now: Date): Promise<void> {
  const paused = await tx.readRun.updateManyAndReturn({
    where: { ...runs, paused: false },
    data: { paused: true },
  });
  for (const run of paused) await recordWait(tx, run, { reason: 'Read paused', now });
}

/** Resumes runs, which continue after the last recorded page. */
async function resumeRuns(
  { queue, now }: Pick<Services, 'queue' | 'now'>,
  tx: Transaction,
  runs: Runs,
): Promise<void> {
  const resumed = await tx.readRun.updateManyAndReturn({
    where: { ...runs, paused: true },
    data: { paused: false },
  });
  for (const run of resumed) {
    const { operationId: id, projectId, objectName } = run;
    await tx.operation.updateMany({
      where: { id, projectId, status: 'IN_PROGRESS' },
      data: { result: null, updateTime: now() },
    });
    const message = `[${objectName}] Read resumed`;
    await logOperation(tx, { id, projectId }, { severity: 'INFO', message });
    await enqueueRun({ queue }, tx, run);
  }
}
