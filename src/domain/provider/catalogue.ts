/** The providers that this server supports, by name. */
import type { Provider } from '../../providers/contract.ts';
import { applyModule } from '../../providers/modules.ts';

/** The detail of an issue for an unknown name. */
export const NOT_A_PROVIDER =
  'is not a provider. The field providers and GET /v1/providers list all providers.';

export interface Catalogue {
  find(name: string): Provider | null;
  /** Finds the provider as an integration of this module uses it. A null `module` means the default one. */
  findAt(name: string, module: string | null): Provider | null;
  /** Sorted by name. */
  all: readonly Provider[];
}

export function createCatalogue(providers: readonly Provider[]): Catalogue {
  const sorted = [...providers].sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(sorted.map((provider) => [provider.name, provider]));
  const find = (name: string) => byName.get(name) ?? null;
  return {
    all: sorted,
    find,
    findAt(name, module) {
      const provider = find(name);
      return provider && applyModule(provider, module);
    },
  };
}
