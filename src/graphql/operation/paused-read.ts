import {
  listPausedReads,
  type PausedRead,
  pausedReadResource,
} from '../../domain/operation/paused-read.ts';
import { byId } from '../../domain/scope.ts';
import { describeField } from '../schema/describe-field.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Project } from '../schema/types.ts';

const PausedReadType = objectType(
  builder.objectRef<PausedRead>('PausedRead'),
  pausedReadResource,
  (t) => ({
    installation: t.field({
      type: Installation,
      nullable: true,
      description: 'The installation; null if it was deleted in the meantime.',
      resolve: ({ installationId }, _args, { find }) => find(byId('Installation'), installationId),
    }),
  }),
);

builder.objectField(Project, 'pausedReads', (t) =>
  t.field({
    ...describeField(listPausedReads),
    type: [PausedReadType],
    resolve: (project, _args, { call }) => listPausedReads(call, project),
  }),
);
