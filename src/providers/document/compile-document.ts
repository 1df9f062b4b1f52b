/** Creates a provider from a provider document. */
import { type CatalogEntry, createCatalogProvider } from '../catalog/catalog-entry.ts';
import type { Provider } from '../contract.ts';
import {
  createDeclarativeProvider,
  createModule,
  type DeclaredProvider,
} from '../declarative/declarative-provider.ts';
import type { ProviderDocument } from './provider-document.ts';

/** A document without an API connects accounts and forwards requests. */
export function compileDocument(document: ProviderDocument): {
  entry: CatalogEntry;
  provider: Provider;
} {
  const { api, limits, modules, ...settings } = document as Omit<DeclaredProvider, 'api'> &
    Partial<Pick<DeclaredProvider, 'api'>>;
  const entry = { ...settings, ...(modules && { modules: modules.map(createModule) }) };
  const provider = api
    ? createDeclarativeProvider({
        ...settings,
        ...(modules && { modules }),
        ...(limits && { limits }),
        api,
      })
    : createCatalogProvider(entry);
  return { entry, provider };
}
