import {
  findProvider,
  listCustomInputs,
  listModulesWithProvider,
  listProviderObjects,
  listProviders,
  type ModuleOfProvider,
  type ObjectOfProvider,
  type ProviderInput as ProviderInputShape,
  type Provider as ProviderShape,
  providerInputResource,
  providerModuleResource,
  providerObjectResource,
  providerResource,
} from '../../../domain/connections/provider/provider.ts';
import { findWorkspaceInput } from '../../../domain/connections/provider/provider-workspace.ts';
import { describeField } from '../../schema/fields.ts';
import { addViewerList } from '../../schema/lists.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { addConnection } from '../../schema/types.ts';

export const ProviderObject = objectType(
  builder.objectRef<ObjectOfProvider>('ProviderObject'),
  providerObjectResource,
);

export const ProviderInput = objectType(
  builder.objectRef<ProviderInputShape>('ProviderInput'),
  providerInputResource,
);

const ProviderAppInputs = builder
  .objectRef<NonNullable<ProviderShape['appInputs']>>('ProviderAppInputs')
  .implement({
    description: 'The values that a provider app stores in its `metadata`.',
    fields: (t) => ({
      authQueryParams: t.field({
        type: [ProviderInput],
        description: 'The members of `metadata.authQueryParams`.',
        resolve: ({ authQueryParams = [] }) => authQueryParams,
      }),
      providerParams: t.field({
        type: [ProviderInput],
        description: 'The members of `metadata.providerParams`.',
        resolve: ({ providerParams = [] }) => providerParams,
      }),
    }),
  });

const ProviderModule = objectType(
  builder.objectRef<ModuleOfProvider>('ProviderModule'),
  providerModuleResource,
);

export const Provider = objectType(
  builder.objectRef<ProviderShape>('Provider'),
  providerResource,
  (t) => ({
    objects: t.field({
      type: [ProviderObject],
      description:
        'The objects that every account has. `ConnectedAccount.objects` lists the objects of one account.',
      resolve: listProviderObjects,
    }),
    inputs: t.field({
      type: [ProviderInput],
      description:
        'The values that connecting needs in `providerMetadata`, in addition to credentials and workspace.',
      resolve: ({ inputs = [] }) => inputs,
    }),
    workspaceInput: t.field({
      type: ProviderInput,
      nullable: true,
      description:
        "The value that connecting needs in `providerWorkspaceRef`, under the vendor's word for it. If it is optional, a consent needs no value. Null if connecting needs none.",
      resolve: findWorkspaceInput,
    }),
    customInputs: t.field({
      type: [ProviderInput],
      description: 'The inputs of `customAuth`. Empty if the provider has no such scheme.',
      resolve: listCustomInputs,
    }),
    appInputs: t.field({
      type: ProviderAppInputs,
      description: 'The values that a provider app of the provider needs besides its client.',
      resolve: ({ appInputs = {} }) => appInputs,
    }),
    modules: t.field({
      type: [ProviderModule],
      description: 'The parts of the provider. Integrations that name no module use the first one.',
      resolve: listModulesWithProvider,
    }),
  }),
);
addConnection(Provider, 'providers');

builder.queryFields((t) => ({
  provider: t.field({
    ...describeField(findProvider),
    type: Provider,
    nullable: true,
    args: {
      name: t.arg.string({
        required: true,
        description: 'The name of the provider, like `hubspot`.',
      }),
      projectIdOrName: t.arg.string({
        description:
          'The project whose custom providers are found too. Default: the project of the caller, if it has only one.',
      }),
    },
    resolve: (_root, reference, { call }) => findProvider(call, reference),
  }),
}));

addViewerList('Query', 'providers', Provider, listProviders);
