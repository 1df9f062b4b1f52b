import type { Capabilities, Provider, ProviderLimits } from '../contract.ts';
import { defineFields } from './define-fields.ts';
import { describeObject, readPage, readRecords } from './read.ts';
import { subscribe } from './subscribe.ts';
import { deleteRecord, writeBatch, writeRecord } from './write.ts';

const limits: ProviderLimits = {
  // Enough to hide the way there and back, and a small part of the sandbox's own sockets.
  concurrency: 10,
  // A twentieth of what the sandbox takes by default: one connection leaves room for others.
  requestsPerSecond: 1_000,
  timeoutMs: 10_000,
  // A page of 200 contacts is 100 KB; this is all of them with every text at its longest.
  answerBytes: 8 * 1024 * 1024,
  batchSize: 100,
  pageSize: 200,
};

const capabilities: Capabilities = {
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

/**
 * The built-in CRM, to try the platform with: it has every scheme and every capability. Its address, without
 * a trailing slash, is told anew each time: the sandbox moves when the process that runs it ends.
 */
export function sandboxProvider(address: () => string): Provider {
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
    takes: {
      filters: 20,
      associations: true,
      headers: true,
      // It forgets one after 24 hours.
      idempotencyKeyMs: 23 * 3_600_000,
      allOrNone: ['CREATE', 'UPDATE'],
    },
    capabilities,
  };
}
