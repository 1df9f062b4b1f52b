import type { InstalledObjectView } from '../../domain/installation/installed-object.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;

export const InstalledObject = builder.objectRef<InstalledObjectView>('InstalledObject').implement({
  description: 'The state of one read object of an installation.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    mappedObjectName: t.exposeString('mappedObjectName', {
      nullable,
      description: 'The name that the integration maps it to.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: "The config's schedule, else the integration's; null where there is none.",
    }),
    paused: t.exposeBoolean('paused', { description: 'Its scheduled reads are paused.' }),
    pauseNote: t.exposeString('pauseNote', {
      nullable,
      description: 'Why it was paused, or resumed.',
    }),
    nextReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When it will be read; null where nothing is scheduled.',
      resolve: ({ nextReadTime }) => nextReadTime,
    }),
    lastReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When it was last read.',
      resolve: ({ lastReadTime }) => lastReadTime,
    }),
    backfillDone: t.exposeBoolean('backfillDone', { description: 'Its first read has finished.' }),
    recordsRead: t.exposeInt('recordsRead', { description: 'Records read since its first read.' }),
  }),
});
