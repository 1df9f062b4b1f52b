/** Objects of a project whose scheduled reads are paused. */
import { z } from 'zod';
import { findPausedObjects, type PausedObject } from '../../database/reads/paused-objects.ts';
import type { Row } from '../../database/rows.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { resource } from '../resource.ts';
import type { Batch } from '../scope.ts';

/** More than a person checks one by one. */
const PAUSED_READS_MAX = 100;

export type PausedRead = PausedObject;

export const pausedReadResource = resource(
  'PausedRead',
  'An object of an installation whose scheduled reads are paused. Use `resumeReads` to continue them.',
  {
    objectName: z.string().describe("The provider's name of the object, like `contacts`."),
    pauseNote: z
      .string()
      .nullable()
      .describe('The note of the change that paused its reads. Null without a note.'),
  },
);

export const listPausedReads = read(
  'read',
  `Lists the objects whose scheduled reads are paused, at most ${PAUSED_READS_MAX}, by installation and object.`,
  (call: Call, { id: projectId }: Row<'Project'>): Promise<PausedRead[]> =>
    load(call, pausedReads, projectId),
);

const pausedReads: Batch<string, PausedRead[]> = async ({ database }, projectIds) => {
  const objects = await findPausedObjects(database.rows.query, projectIds, PAUSED_READS_MAX);
  const byProject = Map.groupBy(objects, ({ projectId }) => projectId);
  return projectIds.map((projectId) => byProject.get(projectId) ?? []);
};
