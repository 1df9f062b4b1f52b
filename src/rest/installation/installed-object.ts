import { z } from 'zod';
import type { InstalledObjectView } from '../../domain/installation/installed-object.ts';
import { resource } from '../openapi/schemas.ts';

export const installedObject = resource(
  'InstalledObject',
  'How far one object of an installation is read.',
  {
    objectName: z.string().describe("The provider's name of the object, like `contacts`."),
    mappedObjectName: z
      .string()
      .optional()
      .describe('The name that the integration maps the object to; left out if there is none.'),
    schedule: z
      .string()
      .optional()
      .describe(
        "A cron expression of five fields, in UTC: the config's, else the integration's; left out if there is none.",
      ),
    paused: z.boolean().describe('Whether its scheduled reads are paused.'),
    pauseNote: z
      .string()
      .optional()
      .describe('Why its reads were last paused or resumed; left out if nobody said.'),
    nextReadTime: z
      .date()
      .optional()
      .describe('When its next scheduled read is due; left out if none is.'),
    lastReadTime: z.date().optional().describe('When it was last read; left out if it never was.'),
    backfillDone: z.boolean().describe('Whether its first read has finished.'),
    recordsRead: z.int().describe('How many records were read in all, from the first read on.'),
  },
);

export function showInstalledObject(view: InstalledObjectView) {
  return {
    ...view,
    mappedObjectName: view.mappedObjectName ?? undefined,
    schedule: view.schedule ?? undefined,
    pauseNote: view.pauseNote ?? undefined,
    nextReadTime: view.nextReadTime ?? undefined,
    lastReadTime: view.lastReadTime ?? undefined,
  };
}
