import {
  type CreatedApiKey,
  createApiKey,
  deleteApiKey,
  keyFilters,
  listApiKeys,
  updateApiKey,
} from '../../domain/project/api-key.ts';
import { nameOfScope, scopesOf } from '../../domain/viewer/scopes.ts';
import { createdFields, listField, projectField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ApiKey, ApiKeys, Project } from '../schema/types.ts';
import { Scope } from '../viewer/scope-enum.ts';

ApiKey.implement({
  description: "An API key of a project. Its value is shown once, in createApiKey's answer.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    label: t.exposeString('label', { description: 'The name that people gave it.' }),
    scopes: t.field({
      type: [Scope],
      description: 'What the key may do.',
      resolve: (key) => scopesOf(key).map(nameOfScope),
    }),
    active: t.exposeBoolean('active', {
      description: 'Whether requests with the key are accepted.',
    }),
    project: projectField(t),
    prefix: t.exposeString('prefix', {
      description: 'The first characters of its value, by which people recognise it.',
    }),
    lastUsedTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute; null if it never was.',
      resolve: ({ lastUsedTime }) => lastUsedTime,
    }),
  }),
});

builder.objectField(Project, 'apiKeys', (t) =>
  listField(t, ApiKeys, {
    description: 'The API keys of the project, newest first.',
    args: parsedArgs(t.arg, keyFilters),
    list: listApiKeys,
  }),
);

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'The answer of createApiKey: the key, and its value, which only this answer shows.',
  fields: (t) => ({
    apiKey: t.field({
      type: ApiKey,
      description: 'The API key.',
      resolve: ({ apiKey }) => apiKey,
    }),
    key: t.exposeString('key', {
      description: 'Its value, to send as X-Api-Key. It is shown only in this answer: keep it.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: mutationField(t, createApiKey, {
    type: CreateApiKeyPayload,
    description: 'Creates an API key of a project, with the scopes that it needs.',
  }),
  updateApiKey: mutationField(t, updateApiKey, {
    type: payload('UpdateApiKeyPayload', 'apiKey', ApiKey, 'The API key with its new values.'),
    description: 'Changes an API key. All processes know the change within a second.',
  }),
  deleteApiKey: mutationField(t, deleteApiKey, {
    type: DeletePayload,
    description:
      'Deletes an API key, by its value or its id. Requests with it are refused within a second.',
  }),
}));
