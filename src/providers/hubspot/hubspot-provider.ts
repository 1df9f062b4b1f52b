/** The HubSpot provider: its facts, limits and capabilities. */
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

/** The account of a token: the portal id and the person who gave consent. */
const id = z.union([z.int(), z.string().min(1).max(64)]).transform(String);
const details = z.object({ portalId: id.nullish(), ownerId: id.nullish() });
/** The token's own facts contain the person, which the account details do not. */
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

/** Returns the facts at a path. Empty on failure, because another request may provide them. */
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

/** `baseUrl` replaces the URL of the API by that of a proxy or test server. */
export function hubspotProvider(options: { baseUrl?: string } = {}): Provider {
  const baseUrl = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  return {
    name: 'hubspot',
    displayName: 'HubSpot',
    baseUrl,
    modules: [{ name: 'crm', displayName: 'HubSpot CRM', baseUrl: `${baseUrl}/crm` }],
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      // The consent page has another host than the API.
      authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
      tokenUrl: `${baseUrl}/oauth/v1/token`,
      revocation: { method: 'DELETE', url: `${baseUrl}/oauth/v1/refresh-tokens` },
      explicitScopesRequired: true,
    },
    scopes: ['contacts', 'companies', 'deals'].flatMap((object) => [
      `crm.objects.${object}.read`,
      `crm.objects.${object}.write`,
      `crm.schemas.${object}.read`,
    ]),
    limits: {
      // HubSpot permits five searches per second for an account, and refuses more.
      concurrency: 4,
      // An app may send 110 requests per ten seconds for each account.
      requestsPerSecond: 10,
      // HubSpot itself ends a request earlier, with 504.
      timeoutMs: 30_000,
      // Room for 200 records with a few long texts of 64 KiB each.
      responseBytesMax: 16 * 1024 * 1024,
      batchSize: 100,
      // The maximum of a search. The maximum of a list is 100.
      pageSize: 200,
    },
    features: {
      filtersMax: 3,
      associations: true,
      headers: false,
      idempotencyKeyLifetimeMs: null,
      // HubSpot always writes the valid records of a batch of updates.
      allOrNone: ['CREATE'],
    },
    capabilities,
  };
}
