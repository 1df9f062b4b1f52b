/** The HubSpot provider: its settings, limits and capabilities. */
import { z } from 'zod';
import { parseBounded } from '../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { Behavior } from '../behavior.ts';
import type {
  AccountIdentity,
  AppInput,
  Capabilities,
  Provider,
  ProviderSession,
  TokenErrorRule,
} from '../contract.ts';
import { isSuccess } from '../read-responses.ts';
import { defineFields } from './define-fields.ts';
import { describeObject } from './metadata.ts';
import { paths } from './paths.ts';
import { readPage, readRecords } from './read.ts';
import { standardNames } from './standard-names.ts';
import { subscribe } from './subscribe.ts';
import { idSchema } from './wire.ts';
import { deleteRecord, writeRecord } from './write.ts';
import { writeBatch } from './write-batch.ts';

/** The account of a token. Its owner is not the person who gave consent. */
const accountDetails = z.object({ portalId: idSchema.nullish() });
/** The token's own details, which include the person who gave consent. */
const tokenDetails = z.object({ hub_id: idSchema.nullish(), user_id: idSchema.nullish() });

async function identify(session: ProviderSession, accessToken: string): Promise<AccountIdentity> {
  const [account, token] = await Promise.all([
    requestDetails(session, paths.accountDetails, accountDetails),
    requestDetails(session, paths.accessToken(accessToken), tokenDetails),
  ]);
  return {
    workspaceRef: account.portalId ?? token.hub_id ?? null,
    consumerRef: token.user_id ?? null,
  };
}

/** Returns the details at a path. Empty on failure, because the other request may provide them. */
async function requestDetails<T extends z.ZodObject>(
  session: ProviderSession,
  path: string,
  schema: T,
): Promise<Partial<z.output<T>>> {
  const response = await session.send({ method: 'GET', path }).catch(() => null);
  const result = response && isSuccess(response) ? parseBounded(schema, response.body) : null;
  return result?.success ? result.data : {};
}

const features: Provider['features'] = {
  filtersMax: 3,
  associations: true,
  headers: false,
  idempotencyKeyLifetimeMs: null,
  // A batch of updates can't be refused as a whole, because HubSpot skips missing ids even without trace ids.
  allOrNoneTypes: ['CREATE'],
};

const behavior: Behavior = {
  shortPage: 'notDocumented',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  // The search index shows a change after seconds, and after minutes if many records change.
  visibility: { settleMs: 5 * MINUTE_MS },
  expiredCursor: { never: 'A search continues after the last id, and a list after an id.' },
  depthLimit: { records: 10_000, beyond: 'keyset' },
  fieldsMax: 'notDocumented',
  urlBytesMax: 'notDocumented',
  // Records are read without their associations, and a property has one value.
  nestedLists: 'complete',
  // HubSpot's own timeouts, after which slower requests help.
  rateLimits: [{ status: 502 }, { status: 504 }],
};

const capabilities: Capabilities = {
  identify,
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

/** HubSpot, OAuth guide: the `status` of a refused token request. */
const TOKEN_ERRORS: TokenErrorRule[] = [
  { code: 'bad_refresh_token', kind: 'AUTH_INVALIDATED' },
  { code: 'bad_auth_code', kind: 'AUTH_INVALIDATED' },
  { code: 'bad_client_id', kind: 'AUTH_INVALIDATED' },
  { code: 'bad_client_secret', kind: 'AUTH_INVALIDATED' },
];

const DEFAULT_BASE_URL = 'https://api.hubapi.com';
/** The consent page has another host than the API. */
const CONSENT_URL = 'https://app.hubspot.com';

const OPTIONAL_SCOPE: AppInput = {
  name: 'optional_scope',
  displayName: 'Optional Scopes',
  prompt:
    'Optional HubSpot scopes that users can grant during OAuth, these must also be configured in your HubSpot app.',
  docsUrl: 'https://developers.hubspot.com/docs/api/working-with-oauth#scopes',
  optional: true,
};

/** `baseUrl` replaces the URLs of HubSpot's API and of its consent page, for a proxy or a test server. */
export function createHubspotProvider(options: { baseUrl?: string } = {}): Provider {
  const baseUrl = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const consentUrl = options.baseUrl === undefined ? CONSENT_URL : baseUrl;
  return {
    name: 'hubspot',
    displayName: 'HubSpot',
    baseUrl,
    modules: [{ name: 'crm', displayName: 'HubSpot CRM', baseUrl: `${baseUrl}/crm` }],
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: `${consentUrl}/oauth/authorize`,
      tokenUrl: `${baseUrl}/oauth/v1/token`,
      revocation: { method: 'DELETE', url: `${baseUrl}/oauth/v1/refresh-tokens` },
      explicitScopesRequired: true,
      tokenErrors: TOKEN_ERRORS,
    },
    healthCheck: paths.accountDetails,
    appInputs: { authQueryParams: [OPTIONAL_SCOPE] },
    scopes: ['contacts', 'companies', 'deals'].flatMap((object) => [
      `crm.objects.${object}.read`,
      `crm.objects.${object}.write`,
      `crm.schemas.${object}.read`,
    ]),
    standardNames,
    limits: {
      // HubSpot allows an account five searches per second, so few requests run at the same time.
      concurrency: 4,
      // An app may send 110 requests per ten seconds for each account.
      requestsPerSecond: 10,
      // HubSpot responds with 504 before this time.
      timeoutMs: 30_000,
      // Room for 200 records with a few long strings of 64 KiB each.
      responseBytesMax: 16 * 1024 * 1024,
      batchSize: 100,
      // The maximum of a search. The maximum of a list is 100.
      pageSize: 200,
    },
    features,
    capabilities,
  };
}
