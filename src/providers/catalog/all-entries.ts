/**
 * All providers of the catalog. Those in entries.json have no declaration: the gateway connects to them and forwards
 * requests, but does not move their records. test/providers/catalog/catalog-entries.test.ts validates the file.
 */
import type { Provider } from '../contract.ts';
import { DECLARED } from '../declared/all.ts';
import { createProxyProvider, type ProxyEntry } from './catalog-entry.ts';
import entries from './entries.json' with { type: 'json' };

export const PROXY_ENTRIES = entries as readonly unknown[] as readonly ProxyEntry[];

export const CATALOG: readonly Provider[] = [
  ...DECLARED,
  ...PROXY_ENTRIES.map(createProxyProvider),
];
