import {
  createProviderApp,
  deleteProviderApp,
  listProviderApps,
  updateProviderApp,
} from '../../domain/provider/provider-app.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, ProviderApp, ProviderApps } from '../schema/types.ts';

enumType('ProviderAppField', 'A field of a provider app, for updateMask.', {
  EXTERNAL_REF: 'externalRef.',
  CLIENT_ID: 'clientId.',
  CLIENT_SECRET: 'clientSecret.',
  PROVIDER: 'provider.',
  SCOPES: 'scopes.',
  METADATA: 'metadata.',
});

ProviderApp.implement({
  description: 'An OAuth client registered at a provider. Its secret is input only.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    provider: t.exposeString('provider', { description: 'The provider of the catalogue.' }),
    clientId: t.exposeString('clientId', { description: 'The OAuth client id.' }),
    externalRef: t.exposeString('externalRef', {
      nullable: true,
      description: "The provider's own id of the app.",
    }),
    scopes: t.exposeStringList('scopes', { description: 'The OAuth scopes to ask for.' }),
    metadata: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'authQueryParams and providerParams, which extend the OAuth flow.',
      resolve: ({ metadata }) => metadata,
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'providerApps', (t) =>
  listField(t, ProviderApps, {
    description: 'Provider apps, newest first.',
    args: { provider: t.arg.string({ description: 'Only those of this provider.' }) },
    list: listProviderApps,
  }),
);

builder.mutationFields((t) => ({
  createProviderApp: mutationField(t, createProviderApp, {
    type: answer('CreateProviderAppPayload', 'providerApp', ProviderApp, 'The new app.'),
    description: 'Makes a provider app.',
  }),
  updateProviderApp: mutationField(t, updateProviderApp, {
    type: answer('UpdateProviderAppPayload', 'providerApp', ProviderApp, 'The app as it is now.'),
    description: 'Changes the masked fields of a provider app.',
  }),
  deleteProviderApp: mutationField(t, deleteProviderApp, {
    type: DeletePayload,
    description: 'Deletes a provider app that no connection uses.',
  }),
}));
