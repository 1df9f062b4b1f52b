import { redirectUrlOf } from '../../domain/connection/oauth-connect.ts';
import {
  createProviderApp,
  deleteProviderApp,
  listProviderApps,
  providerAppFilters,
  updateProviderApp,
} from '../../domain/provider/provider-app.ts';
import { webhookInstructions, webhookUrl } from '../../domain/provider-event/webhook-secret.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, ProviderApp, ProviderApps } from '../schema/types.ts';

enumType('ProviderAppField', 'A field of a provider app, for updateMask.', {
  EXTERNAL_REF: 'The id at the provider: `externalRef`.',
  CLIENT_ID: 'The OAuth client id: `clientId`.',
  CLIENT_SECRET: 'The OAuth client secret: `clientSecret`.',
  WEBHOOK_SECRET: 'The secret that signs events: `webhookSecret`.',
  PROVIDER: 'The provider: `provider`. Only while no connection uses the app.',
  SCOPES: 'The OAuth scopes to request: `scopes`.',
  METADATA: 'Further parameters: `metadata`.',
});

ProviderApp.implement({
  description:
    'An OAuth client that the builder has registered at a provider. No answer shows its secret.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    provider: t.exposeString('provider', { description: 'The name of the provider.' }),
    clientId: t.exposeString('clientId', {
      description: 'The OAuth client id that the provider gave.',
    }),
    externalRef: t.exposeString('externalRef', {
      nullable: true,
      description: "The provider's own id of the app.",
    }),
    scopes: t.exposeStringList('scopes', {
      description: 'The OAuth scopes to request when a customer connects.',
    }),
    metadata: t.field({
      type: 'JSONObject',
      nullable: true,
      description:
        '`authQueryParams` (query parameters of the authorize URL) and `providerParams` (`packageInstallURL`, `gcpProjectId`, `gcpPubSubTopicName`).',
      resolve: ({ metadata }) => metadata,
    }),
    redirectUrl: t.string({
      nullable: true,
      description:
        'The OAuth redirect URL to register at the provider; null if customers do not consent there in a browser.',
      resolve: (app, _args, { call }) => redirectUrlOf(call, app),
    }),
    webhookUrl: t.string({
      nullable: true,
      description: 'The URL that the provider must send its events to; null if it sends none.',
      resolve: (app, _args, { call }) => webhookUrl(call, app),
    }),
    webhookInstructions: t.string({
      nullable: true,
      description: 'What a person has to set up at the provider for its events; null if nothing.',
      resolve: (app, _args, { call }) => webhookInstructions(call, app),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'providerApps', (t) =>
  listField(t, ProviderApps, {
    description: 'The provider apps of the project, newest first.',
    args: parsedArgs(t.arg, providerAppFilters),
    list: listProviderApps,
  }),
);

builder.mutationFields((t) => ({
  createProviderApp: mutationField(t, createProviderApp, {
    type: payload(
      'CreateProviderAppPayload',
      'providerApp',
      ProviderApp,
      'The provider app. Connections to its provider use it.',
    ),
    description:
      'Registers an OAuth client of the builder, by which customers connect to its provider.',
  }),
  updateProviderApp: mutationField(t, updateProviderApp, {
    type: payload(
      'UpdateProviderAppPayload',
      'providerApp',
      ProviderApp,
      'The provider app with its new values.',
    ),
    description: 'Changes the fields of a provider app that updateMask names.',
  }),
  deleteProviderApp: mutationField(t, deleteProviderApp, {
    type: DeletePayload,
    description: 'Deletes a provider app that no connection uses.',
  }),
}));
