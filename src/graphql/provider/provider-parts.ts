/** What a provider is made of: its objects, its inputs and its modules. */
import {
  type CustomInput,
  type ProviderModule as ModuleFacts,
  type ObjectOfProvider,
  objectsOf,
  type Provider,
  supportedCapabilities,
} from '../../domain/provider/provider.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';

export const ProviderCapability = enumType(
  'ProviderCapability',
  'What the gateway can do with the records of a provider.',
  {
    READ: 'Reads records: all, or those that changed since a time.',
    WRITE: 'Creates and updates one record.',
    DELETE: 'Deletes one record.',
    BATCH_WRITE:
      'Creates or updates many records at once: in one request of the provider, or one after the other.',
    METADATA: 'Describes the fields of an object.',
    PROXY: "Forwards requests as they are, with the connection's credentials.",
    SUBSCRIBE: 'Gets changes when they happen.',
  },
);

export const ProviderObject = builder.objectRef<ObjectOfProvider>('ProviderObject').implement({
  description: 'An object of a provider: a kind of records.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that integrations use.' }),
    displayName: t.exposeString('displayName', { description: 'The name that people know.' }),
    supports: t.field({
      type: [ProviderCapability],
      description:
        'What the gateway can do with records of the object. It may be less than the provider supports.',
      resolve: ({ supports }) => [...supports],
    }),
  }),
});

export const ProviderInput = builder.objectRef<CustomInput>('ProviderInput').implement({
  description: 'A value that connecting takes: of `providerMetadata`, or of `customAuth`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the member.' }),
    displayName: t.exposeString('displayName', { description: 'The name that people see.' }),
    optional: t.boolean({
      description: 'Whether it may be left out.',
      resolve: ({ optional = false }) => optional,
    }),
  }),
});

/** The module, and the provider as the module has it. */
export const ProviderModule = builder
  .objectRef<{ module: ModuleFacts; provider: Provider }>('ProviderModule')
  .implement({
    description: 'A part of a provider, which integrations name as their `module`.',
    fields: (t) => ({
      name: t.string({
        description: 'The name in integrations.',
        resolve: ({ module }) => module.name,
      }),
      displayName: t.string({
        description: 'The name that people see.',
        resolve: ({ module }) => module.displayName,
      }),
      baseUrl: t.string({
        description: 'The base URL of its API, to which `proxy.useModule` sends requests.',
        resolve: ({ module }) => module.baseUrl,
      }),
      supports: t.field({
        type: [ProviderCapability],
        description: 'What the gateway can do with its records.',
        resolve: ({ provider }) => supportedCapabilities(provider),
      }),
      objects: t.field({
        type: [ProviderObject],
        description: 'The objects that every account has in it.',
        resolve: ({ provider }) => objectsOf(provider),
      }),
      inputs: t.field({
        type: [ProviderInput],
        description: 'What a connection needs in `providerMetadata` for it.',
        resolve: ({ module }) => module.inputs ?? [],
      }),
    }),
  });
