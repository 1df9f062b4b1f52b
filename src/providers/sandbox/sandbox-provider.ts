import { HOUR_MS } from '../../work/durations.ts';
import { type Behavior, IMMEDIATE } from '../behavior.ts';
import type { Capabilities, Provider, ProviderLimits } from '../contract.ts';
import { defineFields } from './define-fields.ts';
import { describeObject, readPage, readRecords } from './read.ts';
import { subscribe } from './subscribe.ts';
import { deleteRecord, writeBatch, writeRecord } from './write.ts';

const limits: ProviderLimits = {
  // Enough to hide the latency, and few of the sandbox's sockets.
  concurrency: 10,
  // 5% of the sandbox's default rate, so that one connection can't use all of it.
  requestsPerSecond: 1_000,
  timeoutMs: 10_000,
  // A page of 200 contacts has 100 KB. This limit permits strings of maximum length in all of them.
  responseBytesMax: 8 * 1024 * 1024,
  batchSize: 100,
  pageSize: 200,
};

/** The sandbox is part of the gateway, so its source documents its behavior. */
const behavior: Behavior = {
  shortPage: 'last',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  visibility: IMMEDIATE,
  expiredCursor: { never: 'A cursor is the id of the last record.' },
  depthLimit: 'none',
  fieldsMax: 'none',
  urlBytesMax: 'none',
  nestedLists: 'complete',
  rateLimits: 'status429',
};

const capabilities: Capabilities = {
  describeObject,
  defineFields,
  readPage,
  getBehavior: () => behavior,
  readRecords,
  writeRecord,
  writeBatch,
  deleteRecord,
  subscribe,
  proxy: true,
};

/**
 * The built-in CRM for trying the gateway, with all authentication schemes and capabilities. `address` returns its
 * current URL without a trailing slash, which changes when another process takes over the sandbox.
 */
export function createSandboxProvider(address: () => string): Provider {
  return {
    name: 'sandbox',
    displayName: 'Sandbox CRM',
    get baseUrl() {
      return address();
    },
    authSchemes: [
      'API_KEY',
      'BASIC',
      'OAUTH2_AUTHORIZATION_CODE',
      'OAUTH2_AUTHORIZATION_CODE_PKCE',
      'OAUTH2_CLIENT_CREDENTIALS',
      'OAUTH2_PASSWORD',
      'NONE',
    ],
    get oauth2() {
      return {
        authorizeUrl: `${address()}/oauth/authorize`,
        tokenUrl: `${address()}/oauth/token`,
        revocation: { method: 'POST' as const, url: `${address()}/oauth/revoke` },
        tokenFields: { workspaceRef: 'workspace.id', consumerRef: 'user.id', scopes: 'scope' },
      };
    },
    apiKey: { in: 'header', name: 'X-Api-Key' },
    healthCheck: '/objects',
    custom: {
      inputs: [{ name: 'accountKey', displayName: 'Account key' }],
      headers: [{ name: 'X-Account-Key', valueTemplate: '{{accountKey}}' }],
    },
    objects: ['contacts', 'companies', 'deals'],
    limits,
    features: {
      filtersMax: 20,
      associations: true,
      headers: true,
      // The sandbox keeps keys for 24 hours.
      idempotencyKeyLifetimeMs: 23 * HOUR_MS,
      allOrNoneTypes: ['CREATE', 'UPDATE'],
    },
    capabilities,
  };
}
