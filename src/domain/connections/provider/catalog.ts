/** The providers that this server supports, by name. */
import type { Provider } from '../../../providers/contract.ts';
import { applyModule } from '../../../providers/modules.ts';

/** The detail of an issue for an unknown name. */
export const NOT_A_PROVIDER =
  'is not a provider. The field providers and GET /v1/providers list all providers.';

/** Returns the reason why nothing reaches the accounts of a stored connection whose provider is not in the catalog. */
export function describeMissingProvider(name: string): string {
  return SANDBOX_PROVIDERS.includes(name)
    ? `The sandbox is off, so ${name} is not a provider of this server. Set SANDBOX=true in all processes, or delete the connection.`
    : `${name} is no longer a provider.`;
}

const SANDBOX_PROVIDERS = ['sandbox', 'sandboxDesk'];

export interface Catalog {
  find(name: string): Provider | null;
  /** Returns the provider as an integration with this module uses it. Null means the default module. */
  findWithModule(name: string, module: string | null): Provider | null;
  /** All providers, sorted by name. */
  providers: readonly Provider[];
}

export function createCatalog(providers: readonly Provider[]): Catalog {
  const sortedProviders = [...providers].sort((a, b) => (a.name < b.name ? -1 : 1));
  const providersByName = new Map(sortedProviders.map((provider) => [provider.name, provider]));
  const find = (name: string) => providersByName.get(name) ?? null;
  return {
    providers: sortedProviders,
    find,
    findWithModule(name, module) {
      const provider = find(name);
      return provider && applyModule(provider, module);
    },
  };
}
