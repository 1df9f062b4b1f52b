import {
  createIntegration,
  deleteIntegration,
  INTEGRATION_EXCLUSIVE,
  integrationFilters,
  listIntegrations,
  readIntegration,
} from '../../domain/integration/integration.ts';
import { upsertIntegrations } from '../../domain/integration/integration-upsert.ts';
import {
  createdFields,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Integration, Integrations, Project, Revision } from '../schema/types.ts';
import { impactsField, WARNINGS } from './revision.ts';

Integration.implement({
  description:
    'What to read, write, proxy and subscribe to at a provider, in revisions. Groups install it.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', {
      description: 'Letters, digits, - and _; unique in the project regardless of case.',
    }),
    provider: t.exposeString('provider', { description: 'The name of the provider.' }),
    latestRevision: sureLinkField(t, {
      type: Revision,
      table: 'Revision',
      column: 'latestRevisionId',
      description: 'The revision that holds for all installations.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectFields(Project, (t) => ({
  integration: t.field({
    ...needing(
      readIntegration,
      'An integration of the project, by its id or name; null if there is none.',
    ),
    type: Integration,
    nullable: true,
    args: {
      idOrName: t.arg.string({
        required: true,
        description: 'The id of the integration, or its name in the case in which it was created.',
      }),
    },
    resolve: (project, { idOrName }, { call }) => readIntegration(call, project, idOrName),
  }),
  integrations: listField(t, Integrations, {
    args: parsedArgs(t.arg, integrationFilters),
    exclusive: INTEGRATION_EXCLUSIVE,
    list: listIntegrations,
  }),
}));

const CreateIntegrationPayload = builder
  .objectRef<Awaited<ReturnType<typeof createIntegration>>>('CreateIntegrationPayload')
  .implement({
    description: 'Result of `createIntegration`.',
    fields: (t) => ({
      integration: t.field({
        type: Integration,
        description: 'The integration. Give its id or name as integrationIdOrName.',
        resolve: ({ integration }) => integration,
      }),
      warnings: t.exposeStringList('warnings', { description: WARNINGS }),
    }),
  });

const UpsertIntegrationsPayload = builder
  .objectRef<Awaited<ReturnType<typeof upsertIntegrations>>>('UpsertIntegrationsPayload')
  .implement({
    description: 'Result of `upsertIntegrations`.',
    fields: (t) => ({
      integrations: t.field({
        type: [Integration],
        description: 'The integrations, in the order given.',
        resolve: ({ integrations }) => integrations,
      }),
      warnings: t.exposeStringList('warnings', { description: WARNINGS }),
      impacts: impactsField(t),
    }),
  });

builder.mutationFields((t) => ({
  upsertIntegrations: mutationField(t, upsertIntegrations, UpsertIntegrationsPayload),
  createIntegration: mutationField(t, createIntegration, CreateIntegrationPayload),
  deleteIntegration: mutationField(t, deleteIntegration, DeletePayload),
}));
