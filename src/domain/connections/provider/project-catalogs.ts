/** Caches the catalogs of projects. */
import type { Provider } from '../../../providers/contract.ts';
import { type Catalogs, createCatalog } from './catalog.ts';

export function createCatalogs(providers: readonly Provider[]): Catalogs {
  const builtIn = createCatalog(providers);
  return { builtIn, getOfProject: async () => builtIn };
}
