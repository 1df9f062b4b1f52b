import {
  type CreatedApiKey,
  createApiKey,
  deleteApiKey,
  listApiKeys,
  updateApiKey,
} from '../../domain/project/api-key.ts';
import { createdFields, listField, projectField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ApiKey, ApiKeys, Project } from '../schema/types.ts';

ApiKey.implement({
  description: "A key of a project. Its value is shown once, in createApiKey's answer.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    label: t.exposeString('label', { description: 'What people know it by.' }),
    scopes: t.exposeStringList('scopes', { description: 'What it may do.' }),
    active: t.exposeBoolean('active', { description: 'Whether its calls are accepted.' }),
    project: projectField(t),
    prefix: t.exposeString('prefix', {
      description: 'The first characters of its value, to recognise it by.',
    }),
    lastUsedTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute; null where it never was.',
      resolve: ({ lastUsedTime }) => lastUsedTime,
    }),
  }),
});

builder.objectField(Project, 'apiKeys', (t) =>
  listField(t, ApiKeys, {
    description: 'API keys, newest first.',
    args: {
      active: t.arg.boolean({ description: 'Only active ones, or only inactive ones.' }),
    },
    list: listApiKeys,
  }),
);

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'The answer of createApiKey.',
  fields: (t) => ({
    apiKey: t.field({
      type: ApiKey,
      description: 'The new key.',
      resolve: ({ apiKey }) => apiKey,
    }),
    key: t.exposeString('key', { description: 'Its value: shown here and never again.' }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: mutationField(t, createApiKey, {
    type: CreateApiKeyPayload,
    description: 'Makes an API key.',
  }),
  updateApiKey: mutationField(t, updateApiKey, {
    type: answer('UpdateApiKeyPayload', 'apiKey', ApiKey, 'The key as it is now.'),
    description: 'Changes an API key.',
  }),
  deleteApiKey: mutationField(t, deleteApiKey, {
    type: DeletePayload,
    description: 'Deletes an API key, by its value or its id.',
  }),
}));
