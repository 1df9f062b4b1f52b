/**
 * Providers that are known by their facts alone: how to connect to them, and where they are. What
 * can be done with them is forwarding requests; whoever gets code of its own leaves for a folder.
 */
import { KEY_ROWS } from './catalogue/keys.ts';
import { OAUTH2_ROWS } from './catalogue/oauth2.ts';
import { OAUTH2_BY_WORKSPACE_ROWS } from './catalogue/oauth2-by-workspace.ts';
import { catalogueProvider } from './catalogue/row.ts';
import type { Provider } from './provider.ts';

export const CATALOGUE: readonly Provider[] = [
  ...OAUTH2_ROWS,
  ...OAUTH2_BY_WORKSPACE_ROWS,
  ...KEY_ROWS,
].map(catalogueProvider);
