import {
  createProviderApp,
  deleteProviderApp,
  listProviderApps,
  providerAppFilters,
  providerAppResource,
  updateProviderApp,
} from '../../../domain/connections/provider/provider-app.ts';
import {
  createWebhookInstructions,
  createWebhookUrl,
} from '../../../domain/data/provider-event/webhook-secret.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { Project, ProviderApp } from '../../schema/types.ts';

objectType(ProviderApp, providerAppResource, (t) => ({
  webhookUrl: t.string({
    nullable: true,
    description:
      'The URL to which the provider must send its events. Null if the provider sends no events.',
    resolve: (app, _args, { call }) => createWebhookUrl(call, app),
  }),
  webhookInstructions: t.string({
    nullable: true,
    description:
      'The steps that a person must take at the provider to receive its events. Null if no steps are needed.',
    resolve: (app, _args, { call }) => createWebhookInstructions(call, app),
  }),
}));

addList(Project, 'providerApps', ProviderApp, listProviderApps, { filters: providerAppFilters });

addMutations('providerApp', ProviderApp, { createProviderApp, updateProviderApp });
addDeletions({ deleteProviderApp });
