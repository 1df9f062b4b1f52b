import { applyPlan } from '../../domain/plan/apply-plan.ts';
import type { Change } from '../../domain/plan/changes.ts';
import type { Finding } from '../../domain/plan/findings.ts';
import { exportProject, exportProjectInput, partsOf, planProject } from '../../domain/plan/plan.ts';
import { createdFields, projectField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Plan } from '../schema/types.ts';
import { ImpactType } from './impact.ts';

enumType('DocumentFormat', 'The format of a project document.', {
  YAML: 'YAML 1.2, in the form of manifests.',
  JSON: 'JSON with an indentation of two spaces.',
});

enumType('RenameKind', 'A kind of object that a document refers to by name.', {
  DESTINATION: 'A destination.',
  PROVIDER_APP: 'A provider app, by its external reference or its client id.',
});

const ChangeAction = enumType('ChangeAction', 'What a plan does with an item.', {
  CREATE: 'The project gets the item.',
  UPDATE: 'The item changes.',
  DELETE: 'The project loses the item.',
});

const ItemKind = enumType('ItemKind', 'A kind of item of a project document.', {
  ALLOWED_ORIGIN: 'An origin whose pages may call the gateway.',
  JWT_KEY: "A public key that verifies end users' tokens.",
  DESTINATION: 'A destination.',
  TOPIC: 'A topic.',
  EVENT_TOPIC_ROUTE: 'A route of events of one type to a topic.',
  TOPIC_DESTINATION_ROUTE: 'A route of a topic to a destination.',
  INTEGRATION: 'An integration with its content.',
});

const FindingSeverity = enumType('FindingSeverity', 'How serious a finding is.', {
  ERROR: 'The plan is not applied.',
  WARNING: 'The plan is applied, and something needs attention.',
});

const PlanChange = builder.objectRef<Change>('PlanChange').implement({
  description: 'One change of a plan.',
  fields: (t) => ({
    action: t.expose('action', { type: ChangeAction, description: 'What happens to the item.' }),
    kind: t.expose('kind', { type: ItemKind, description: 'The kind of the item.' }),
    path: t.exposeString('path', {
      description: 'Identifies the item in the project, like `integrations.contact-sync`.',
    }),
    before: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'The item in the project, as in a document. Null for a creation.',
      resolve: ({ before }) => before,
    }),
    after: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'The item once the plan is applied, as in a document. Null for a deletion.',
      resolve: ({ after }) => after,
    }),
  }),
});

const PlanFinding = builder.objectRef<Finding>('PlanFinding').implement({
  description: 'Something that prevents a plan from being applied, or that needs attention.',
  fields: (t) => ({
    severity: t.expose('severity', {
      type: FindingSeverity,
      description: 'Whether the finding prevents the plan from being applied.',
    }),
    path: t.exposeString('path', {
      description: 'The item that the finding concerns. Empty for the whole plan.',
    }),
    message: t.exposeString('message', { description: 'The finding, for people.' }),
  }),
});

Plan.implement({
  description:
    'The changes that a document makes to a project, with the installations that they break. A plan changes nothing until it is applied.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    hash: t.exposeString('hash', {
      description: 'Hash of the base and the changes: equal for plans that do the same.',
    }),
    baseHash: t.exposeString('baseHash', {
      description: 'Hash of the project when the plan was computed, as `exportProject` gives it.',
    }),
    allowDeletions: t.exposeBoolean('allowDeletions', {
      description: 'Whether the plan deletes items that the document does not have.',
    }),
    changes: t.field({
      type: [PlanChange],
      description: 'The changes, sorted by path.',
      resolve: (plan) => partsOf(plan).changes,
    }),
    impacts: t.field({
      type: [ImpactType],
      description: 'The installations that the changes break, by integration and reason.',
      resolve: (plan) => partsOf(plan).impacts,
    }),
    findings: t.field({
      type: [PlanFinding],
      description: 'What prevents the plan from being applied, or needs attention.',
      resolve: (plan) => partsOf(plan).findings,
    }),
    requiredSecrets: t.exposeStringList('requiredSecrets', {
      description:
        'Paths of the values that `applyPlan` needs in `secrets`, like `destinations.records.headers.authorization`.',
    }),
    expireTime: t.expose('expireTime', {
      type: 'DateTime',
      description: 'When the plan is removed: 24 hours after it was computed.',
    }),
    applyTime: t.expose('applyTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When the plan was applied. Null if it was not.',
    }),
  }),
});

const ProjectExport = builder
  .objectRef<Awaited<ReturnType<typeof exportProject>>>('ProjectExport')
  .implement({
    description: 'A project as a document, without secrets.',
    fields: (t) => ({
      document: t.exposeString('document', {
        description: 'The document as text. Equal projects have equal documents.',
      }),
      hash: t.exposeString('hash', { description: 'Hash of the document, equal in every format.' }),
    }),
  });

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
