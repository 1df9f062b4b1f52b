import { z } from 'zod';
import type { InstalledObjectView } from '../../domain/installation/installed-object.ts';
import { resource } from '../openapi/schemas.ts';

export const installedObject = resource('InstalledObject', 'How far an object is read.', {
  objectName: z.string().describe("The provider's name of the object."),
  mappedObjectName: z.string().optional().describe('The name that the integration maps it to.'),
  schedule: z.string().optional().describe('Cron of five fields in UTC; left out without one.'),
  paused: z.boolean().describe('Whether its scheduled reads are paused.'),
  pauseNote: z.string().optional().describe('Why it was paused, or resumed.'),
  nextReadTime: z.date().optional().describe('When it will be read; left out where none is due.'),
  lastReadTime: z.date().optional().describe('When it was last read.'),
  backfillDone: z.boolean().describe('Whether its first read has finished.'),
  recordsRead: z.int().describe('Records read since its first read.'),
});

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
