import { applyPlan } from '../../domain/plan/apply-plan.ts';
import {
  exportProject,
  exportProjectInput,
  planProject,
  planResource,
  projectExportResource,
} from '../../domain/plan/plan.ts';
import { describeField } from '../schema/fields.ts';
import { createArgs } from '../schema/inputs.ts';
import { addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Plan } from '../schema/types.ts';

objectType(Plan, planResource);

const ProjectExport = objectType(
  builder.objectRef<Awaited<ReturnType<typeof exportProject>>>('ProjectExport'),
  projectExportResource,
);

builder.queryField('exportProject', (t) =>
  t.field({
    ...describeField(exportProject),
    type: ProjectExport,
    nullable: true,
    args: createArgs(t.arg, exportProjectInput),
    resolve: (_root, args, { call }) =>
      exportProject(call, { ...args, format: args.format ?? 'YAML' }),
  }),
);

addMutations('plan', Plan, { planProject, applyPlan });
