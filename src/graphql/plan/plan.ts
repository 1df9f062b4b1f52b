import { applyPlan } from '../../domain/plan/apply-plan.ts';
import {
  exportProject,
  exportProjectInput,
  planProject,
  planResource,
  projectExportResource,
} from '../../domain/plan/plan.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Plan } from '../schema/types.ts';
import './impact.ts';

objectType(Plan, planResource);

const ProjectExport = objectType(
  builder.objectRef<Awaited<ReturnType<typeof exportProject>>>('ProjectExport'),
  projectExportResource,
);

builder.queryField('exportProject', (t) =>
  t.field({
    ...needing(exportProject),
    type: ProjectExport,
    args: parsedArgs(t.arg, exportProjectInput),
    resolve: (_root, args, { call }) =>
      exportProject(call, { ...args, format: args.format ?? 'YAML' }),
  }),
);

builder.mutationFields((t) => ({
  planProject: mutationField(t, planProject, payload('planProject', 'plan', Plan)),
  applyPlan: mutationField(t, applyPlan, payload('applyPlan', 'plan', Plan)),
}));
