/**
 * Providers that are known by their facts alone. A declaration says how records are moved; of the others
 * only how to connect to them is known, and requests can be forwarded.
 */

import type { Provider } from '../contract.ts';
import { DECLARED } from '../declared/all.ts';
import { KEY_ROWS } from './keys.ts';
import { OAUTH2_ROWS } from './oauth2.ts';
import { OAUTH2_BY_WORKSPACE_ROWS } from './oauth2-by-workspace.ts';
import { catalogueProvider } from './row.ts';
import { SERVICE_ACCOUNT_ROWS } from './service-accounts.ts';

const ROWS = [...OAUTH2_ROWS, ...OAUTH2_BY_WORKSPACE_ROWS, ...KEY_ROWS, ...SERVICE_ACCOUNT_ROWS];

export const CATALOGUE: readonly Provider[] = [...DECLARED, ...ROWS.map(catalogueProvider)];
