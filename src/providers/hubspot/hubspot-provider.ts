/** HubSpot CRM: what it is, and which of its capabilities are wired to code. */
import { z } from 'zod';
import type { AccountIdentity, Capabilities, Provider, ProviderSession } from '../contract.ts';
import { isSuccess } from '../read-responses.ts';
import { defineFields } from './define-fields.ts';
import { describeObject } from './metadata.ts';
import { paths } from './paths.ts';
import { readPage, readRecords } from './read.ts';
import { subscribe } from './subscribe.ts';
import { deleteRecord, writeRecord } from './write.ts';
import { writeBatch } from './write-batch.ts';

/** Whose account a token is of: the portal, and the person who agreed. */

const id = z.union([z.int(), z.string().min(1).max(64)]).transform(String);
const details = z.object({ portalId: id.nullish(), ownerId: id.nullish() });
/** It tells the person, which an account does not. */
const tokenFacts = z.object({ hub_id: id.nullish(), user_id: id.nullish() });

async function identify(session: ProviderSession, accessToken: string): Promise<AccountIdentity> {
  const [account, token] = await Promise.all([
    factsAt(session, paths.accountDetails, details),
    factsAt(session, paths.accessToken(accessToken), tokenFacts),
  ]);
  return {
    workspaceRef: account.portalId ?? token.hub_id ?? null,
    consumerRef: token.user_id ?? account.ownerId ?? null,
  };
}

/** What one of them does not tell now, the other may. */
async function factsAt<T extends z.ZodObject>(
  session: ProviderSession,
  path: string,
  schema: T,
): Promise<Partial<z.output<T>>> {
  const response = await session.send({ method: 'GET', path }).catch(() => null);
  const facts = response && isSuccess(response) ? schema.safeParse(response.body) : null;
  return facts?.success ? facts.data : {};
}

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
