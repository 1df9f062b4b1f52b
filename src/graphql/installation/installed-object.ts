import type { InstalledObjectView } from '../../domain/installation/installed-object.ts';
import { byId } from '../../domain/scope.ts';
import { builder } from '../schema/schema-builder.ts';
import { Operation } from '../schema/types.ts';

const nullable = true;

export const InstalledObject = builder.objectRef<InstalledObjectView>('InstalledObject').implement({
  description: 'How far one object of an installation is read.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    mappedObjectName: t.exposeString('mappedObjectName', {
      nullable,
      description: 'The name that the integration maps the object to; null if there is none.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description:
        "A cron expression of five fields, in UTC: the config's, else the integration's; null if there is none.",
    }),
    paused: t.exposeBoolean('paused', { description: 'Whether its scheduled reads are paused.' }),
    pauseNote: t.exposeString('pauseNote', {
      nullable,
      description: 'Why its reads were last paused or resumed; null if nobody said.',
    }),
    nextReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When its next scheduled read is due; null if none is.',
      resolve: ({ nextReadTime }) => nextReadTime,
    }),
    lastReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When it was last read; null if it never was.',
      resolve: ({ lastReadTime }) => lastReadTime,
    }),
    backfillDone: t.exposeBoolean('backfillDone', {
      description: 'Whether its first read has finished.',
    }),
    backfillOperation: t.field({
      type: Operation,
      nullable,
      description:
        'The operation of its first read, whose metadata tells the progress; null before it began, and once it is removed.',
      resolve: ({ backfillOperationId: id }, _args, { find }) =>
        id === null ? null : find(byId('Operation'), id),
    }),
    recordsRead: t.exposeInt('recordsRead', {
      description: 'How many records were read in all, from the first read on.',
    }),
  }),
});
