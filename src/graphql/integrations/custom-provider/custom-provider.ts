import {
  createProvider,
  customProviderResource,
  deleteProvider,
  findProviderOfDocument,
  listCustomProviders,
  updateProvider,
} from '../../../domain/integrations/custom-provider/custom-provider.ts';
import { Provider } from '../../connections/provider/provider.ts';
import { describeField } from '../../schema/fields.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutation, addMutations, describeResult } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { CustomProvider, Project } from '../../schema/types.ts';
import { impactsField } from '../integration/revision.ts';

objectType(CustomProvider, customProviderResource, (t) => ({
  provider: t.field({
    ...describeField(findProviderOfDocument),
    type: Provider,
    nullable: true,
    resolve: (row, _args, { call }) => findProviderOfDocument(call, row),
  }),
}));

addList(Project, 'customProviders', CustomProvider, listCustomProviders);

const UpdateProviderPayload = builder
  .objectRef<Awaited<ReturnType<typeof updateProvider>>>('UpdateProviderPayload')
  .implement({
    description: describeResult('updateProvider'),
    fields: (t) => ({
      customProvider: t.expose('customProvider', {
        type: CustomProvider,
        description: 'The provider with its new document, which is now in use.',
      }),
      suspendedConnections: t.exposeInt('suspendedConnections', {
        description: 'The number of connections that wait until they are connected again.',
      }),
      impacts: impactsField(t),
    }),
  });

addMutations('customProvider', CustomProvider, { createProvider });
addMutation('updateProvider', updateProvider, UpdateProviderPayload);
addDeletions({ deleteProvider });
