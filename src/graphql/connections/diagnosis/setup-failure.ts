import {
  listSetupFailures,
  type SetupFailure,
  setupFailureResource,
} from '../../../domain/connections/diagnosis/setup-failure.ts';
import { describeField } from '../../schema/fields.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Project } from '../../schema/types.ts';

const SetupFailureType = objectType(
  builder.objectRef<SetupFailure>('SetupFailure'),
  setupFailureResource,
);

builder.objectField(Project, 'setupFailures', (t) =>
  t.field({
    ...describeField(listSetupFailures),
    type: [SetupFailureType],
    resolve: (project, _args, { call }) => listSetupFailures(call, project),
  }),
);
