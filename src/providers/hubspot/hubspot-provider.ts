/** HubSpot CRM: what it is, and which of its capabilities are wired to code. */
import type { Capabilities, Provider } from '../contract.ts';
import { defineFields } from './define-fields.ts';
import { identify } from './identify.ts';
import { describeObject } from './metadata.ts';
import { readPage, readRecords } from './read.ts';
import { subscribe } from './subscribe.ts';
import { deleteRecord, writeRecord } from './write.ts';
import { writeBatch } from './write-batch.ts';

const capabilities: Capabilities = {
  identify,
  describeObject,
  defineFields,
  readPage,
  readRecords,
  writeRecord,
  writeBatch,
  deleteRecord,
  subscribe,
  proxy: true,
};

const DEFAULT_BASE_URL = 'https://api.hubapi.com';

/** `baseUrl` puts a proxy or a test server in the API's place. */
export function hubspotProvider(options: { baseUrl?: string } = {}): Provider {
  const baseUrl = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  return {
    name: 'hubspot',
    displayName: 'HubSpot',
    baseUrl,
    modules: [{ name: 'crm', displayName: 'HubSpot CRM', baseUrl: `${baseUrl}/crm` }],
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      // The page where people consent is on a host of its own, which the base URL says nothing of.
      authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
      tokenUrl: `${baseUrl}/oauth/v1/token`,
      revocation: { method: 'DELETE', url: `${baseUrl}/oauth/v1/refresh-tokens` },
      explicitScopesRequired: true,
    },
    limits: {
      // Searches are limited to five a second for an account: more at once would only be refused.
      concurrency: 4,
      // An app has 110 requests per ten seconds in each account that installed it.
      requestsPerSecond: 10,
      // HubSpot gives up on a request itself (504) well before.
      timeoutMs: 30_000,
      // 200 records with a few long texts of 64 KiB each.
      answerBytes: 16 * 1024 * 1024,
      batchSize: 100,
      // The most that a search gives; lists give 100 at most.
      pageSize: 200,
    },
    takes: {
      filters: 3,
      associations: true,
      headers: false,
      idempotencyKeyMs: null,
      // A batch of updates writes what it can, whatever is asked for.
      allOrNone: ['CREATE'],
    },
    capabilities,
  };
}
