import {
  createIntegration,
  deleteIntegration,
  listIntegrations,
  readIntegration,
} from '../../domain/integration/integration.ts';
import {
  createdFields,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Integration, Integrations, Project, Revision } from '../schema/types.ts';

Integration.implement({
  description: 'What to read, write, proxy and subscribe to at a provider, in revisions.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', { description: 'Its name, unique in the project.' }),
    provider: t.exposeString('provider', { description: 'The provider, by name.' }),
    latestRevision: sureLinkField(t, {
      type: Revision,
      table: 'Revision',
      column: 'latestRevisionId',
      description: 'The revision that is in force for all installations.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectFields(Project, (t) => ({
  integration: t.field({
    type: Integration,
    nullable: true,
    description: 'An integration of the project. Null where there is none.',
    args: { idOrName: t.arg.string({ required: true, description: 'Its id or its name.' }) },
    resolve: (project, { idOrName }, { call }) => readIntegration(call, project, idOrName),
  }),
  integrations: listField(t, Integrations, {
    description: 'Integrations, newest first.',
    args: { provider: t.arg.string({ description: 'Only those of this provider.' }) },
    list: listIntegrations,
  }),
}));

builder.mutationFields((t) => ({
  createIntegration: mutationField(t, createIntegration, {
    type: answer('CreateIntegrationPayload', 'integration', Integration, 'The new integration.'),
    description: 'Makes an integration with its first revision.',
  }),
  deleteIntegration: mutationField(t, deleteIntegration, {
    type: DeletePayload,
    description: 'Deletes an integration with its revisions and installations.',
  }),
}));
