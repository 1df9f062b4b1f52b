/** Scheduled reads that callers pause and resume. A read that is under way is not stopped by it. */
import { z } from 'zod';
import type { Row } from '../../../database/rows.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { type Issue, invalidInput } from '../../../errors.ts';
import { id } from '../../../ids.ts';
import type { Call } from '../../call.ts';
import { openInput } from '../../checked-input.ts';
import { configOf } from '../../installation/installation-config.ts';
import { holdInstallation } from '../../installation/installation-rows.ts';
import { scheduleOf } from '../../installation/installed-object.ts';
import { nextRunOf } from '../../integration/cron.ts';
import { holdContent } from '../../integration/integration.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';
import { issueAt } from '../../issues.ts';
import { projectIdOrName } from '../../names.ts';
import { getOwned } from '../../scope.ts';
import { nativeName } from './read-plan.ts';

const NOTE_LENGTH = 1_000;

const shape = z.object({
  projectIdOrName,
  installationId: id.describe('The installation.'),
  objects: z
    .array(contentText)
    .max(CONTENT_LIMITS.objects)
    .nullish()
    .describe('Objects, by their mapped names or those at the provider; default: all.'),
  note: z.string().max(NOTE_LENGTH).nullish().describe('Why, for people.'),
});

export const pauseReadsInput = shape.meta({
  id: 'PauseReadsInput',
  description: 'Scheduled reads to pause; those that are paused already stay as they are.',
});

export const resumeReadsInput = shape.meta({
  id: 'ResumeReadsInput',
  description: 'Scheduled reads to go on with; those that are not paused stay as they are.',
});

type ReadsInput = z.input<typeof shape>;

export function pauseReads(call: Call, input: ReadsInput): Promise<Row<'Installation'>> {
  return changeObjects(call, input, async (tx, { where }) => {
    await tx.installedObject.updateMany({
      where: { ...where, paused: false },
      data: { paused: true, pauseNote: input.note ?? null, nextReadTime: null },
    });
  });
}

/** Read next when their schedules say so, from where the last read that succeeded has ended. */
export function resumeReads(call: Call, input: ReadsInput): Promise<Row<'Installation'>> {
  return changeObjects(call, input, async (tx, { where, installation, content }) => {
    const paused = await tx.installedObject.findMany({ where: { ...where, paused: true } });
    const config = await tx.installationConfig.findUniqueOrThrow({
      where: { id: installation.configId },
    });
    for (const { installationId, objectName } of paused) {
      const spec = content.read?.objects.find((object) => object.objectName === objectName);
      const choice = configOf(config).read.find((object) => object.objectName === objectName);
      const schedule = scheduleOf(spec, choice);
      await tx.installedObject.update({
        where: { installationId_objectName: { installationId, objectName } },
        data: {
          paused: false,
          pauseNote: input.note ?? null,
          failedRuns: 0,
          nextReadTime: schedule && nextRunOf(schedule, call.now()),
        },
      });
    }
  });
}

interface Chosen {
  where: { installationId: string; objectName?: { in: string[] } };
  installation: Row<'Installation'>;
  content: IntegrationContent;
}

/** Changes the objects that the input names, under locks by which changes of one installation take turns. */
async function changeObjects(
  call: Call,
  input: ReadsInput,
  change: (tx: Transaction, chosen: Chosen) => Promise<void>,
): Promise<Row<'Installation'>> {
  const { project, issues } = await openInput(call, {
    schema: shape,
    input,
    needed: 'reads:control',
  });
  const key = { projectId: project.id, id: input.installationId };
  const found = await getOwned(call, 'Installation', { ...key, what: 'Installation' });
  return inTransaction(call.database, async (tx) => {
    const { projectId, integrationId } = found;
    const content = await holdContent(tx, { id: integrationId, projectId });
    const installation = await holdInstallation(tx, key);
    const installationId = installation.id;
    const objects = await tx.installedObject.findMany({ where: { installationId } });
    const names = new Set(objects.map(({ objectName }) => objectName));
    const native = (name: string) => (names.has(name) ? name : nativeName(content, name));
    const problems = [...issues, ...unknownIssues(input, (name) => names.has(native(name) ?? ''))];
    if (problems.length > 0) throw invalidInput(problems);
    const chosen = input.objects?.map((name) => native(name) as string);
    const where = { installationId, ...(chosen && { objectName: { in: chosen } }) };
    await change(tx, { where, installation, content });
    return installation;
  });
}

function* unknownIssues(
  { objects }: ReadsInput,
  isInstalled: (name: string) => boolean,
): Generator<Issue> {
  for (const [index, name] of (objects ?? []).entries()) {
    if (isInstalled(name)) continue;
    yield issueAt(
      ['input', 'objects', index],
      'is not an object that the installation reads.',
      name,
    );
  }
}
