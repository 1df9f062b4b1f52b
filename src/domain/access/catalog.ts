/** The providers that this server supports, by name. */
import type { Provider } from '../../providers/contract.ts';
import { applyModule } from '../../providers/modules.ts';

/** The detail of an issue for an unknown name. */
export const NOT_A_PROVIDER =
  'is not a provider. The field providers and GET /v1/providers list all providers.';

/** Returns the reason why nothing reaches the accounts of a stored connection whose provider is not in the catalog. */
export function describeMissingProvider(name: string): string {
  if (name.startsWith('x-')) {
    return `This version of the gateway can't use the document of ${name}. CustomProvider.problem has the reason. Correct it with updateProvider.`;
  }
  return SANDBOX_PROVIDERS.includes(name)
    ? `The sandbox is off, so ${name} is not a provider of this server. Set SANDBOX=true in all processes, or delete the connection.`
    : `${name} is no longer a provider.`;
}

const SANDBOX_PROVIDERS = ['sandbox', 'sandboxDesk'];

/** Returns the name of a provider in metrics. All custom providers share one, so that the number of names is bounded. */
export function toProviderLabel({ name, document }: Pick<Provider, 'name' | 'document'>): string {
  return document ? 'custom' : name;
}

/** Providers by name. */
export interface Catalog {
  find(name: string): Provider | null;
  /** Returns the provider as an integration with this module uses it. Null means the default module. */
  findWithModule(name: string, module: string | null): Provider | null;
  /** All providers, sorted by name. */
  providers: readonly Provider[];
}

/** The catalogs of all projects. */
export interface Catalogs {
  /** The providers that every project has. */
  builtIn: Catalog;
  /**
   * Returns the providers of a project, which are at most a second old. Must not be called inside a transaction, because
   * it may query the database.
   */
  getOfProject(projectId: string): Promise<Catalog>;
  /** Must be called after a change of the project's providers has been committed. */
  forget(projectId: string): void;
}

/** The services, or the call, of work in one project. */
export type InProject<S> = S & {
  /** The providers of the project. */
  catalog: Catalog;
};

/** Adds the catalog of a project to services or to a call. Must not be called inside a transaction. */
export async function inProject<S extends { catalogs: Catalogs }>(
  services: S,
  projectId: string,
): Promise<InProject<S>> {
  return { ...services, catalog: await services.catalogs.getOfProject(projectId) };
}

/** Finds the provider of a row, such as a connection. Must not be called inside a transaction. */
export async function findProviderOf(
  { catalogs }: { catalogs: Catalogs },
  { projectId, provider }: { projectId: string; provider: string },
): Promise<Provider | null> {
  return (await catalogs.getOfProject(projectId)).find(provider);
}

/** Returns the catalog with these providers in place of those of their names, and without `deletedNames`. */
export function replaceProviders(
  catalog: Catalog,
  providers: readonly Provider[],
  deletedNames: readonly string[] = [],
): Catalog {
  const names = new Set([...providers.map(({ name }) => name), ...deletedNames]);
  const kept = catalog.providers.filter(({ name }) => !names.has(name));
  return createCatalog([...kept, ...providers]);
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
