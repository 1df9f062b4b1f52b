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
import { filterArgs } from '../schema/parsed-args.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Integration, Integrations, Project, Revision } from '../schema/types.ts';

Integration.implement({
  description:
    'What to read, write, proxy and subscribe to at a provider, in revisions. Groups install it.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', {
      description: 'Unique in the project: lower-case letters, digits, - and _.',
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
        description: 'The id or the name of the integration.',
      }),
    },
    resolve: (project, { idOrName }, { call }) => readIntegration(call, project, idOrName),
  }),
  integrations: listField(t, Integrations, {
    description: 'The integrations of the project, newest first.',
    args: filterArgs(t.arg, integrationFilters),
    exclusive: INTEGRATION_EXCLUSIVE,
    list: listIntegrations,
  }),
}));

const UpsertIntegrationsPayload = builder
  .objectRef<Awaited<ReturnType<typeof upsertIntegrations>>>('UpsertIntegrationsPayload')
  .implement({
    description: 'The answer of upsertIntegrations: the integrations as they are now.',
    fields: (t) => ({
      integrations: t.field({
        type: [Integration],
        description: 'The integrations, in the order given.',
        resolve: (integrations) => integrations,
      }),
    }),
  });

builder.mutationFields((t) => ({
  upsertIntegrations: mutationField(t, upsertIntegrations, {
    type: UpsertIntegrationsPayload,
    description:
      'Creates integrations, and gives new revisions to those that exist: all of them or none. A content that is in force already makes no revision.',
  }),
  createIntegration: mutationField(t, createIntegration, {
    type: answer(
      'CreateIntegrationPayload',
      'integration',
      Integration,
      'The integration. Give its id or name as integrationIdOrName.',
    ),
    description: 'Creates an integration with its first revision.',
  }),
  deleteIntegration: mutationField(t, deleteIntegration, {
    type: DeletePayload,
    description: 'Deletes an integration with its revisions and installations.',
  }),
}));
