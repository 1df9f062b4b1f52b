/** The Salesforce provider: its settings, limits and capabilities. */
import { z } from 'zod';
import { parseBounded } from '../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { Behavior } from '../behavior.ts';
import type {
  AccountIdentity,
  OAuth2Settings,
  Provider,
  ProviderLimits,
  ProviderSession,
} from '../contract.ts';
import { isSuccess } from '../read-responses.ts';
import { createAccountEngagement } from './account-engagement.ts';
import { defineFields } from './define-fields.ts';
import { describeObject } from './metadata.ts';
import { paths } from './paths.ts';
import { URL_BYTES_MAX } from './query.ts';
import { readPage, readRecords } from './read.ts';
import { standardNames } from './standard-names.ts';
import { createSubscribe } from './subscribe.ts';
import { deleteRecord, writeBatch, writeRecord } from './write.ts';

/** The person of a token, if the token response lacks it. `sub` is an identity URL that also names the org. */
const userInfo = z.object({ sub: z.string().min(1) });

async function identify(session: ProviderSession): Promise<AccountIdentity> {
  const response = await session.send({ method: 'GET', path: paths.userInfo });
  const info = isSuccess(response) ? parseBounded(userInfo, response.body) : null;
  // Without a workspace there is no base URL, so the connection already has it.
  return { workspaceRef: null, consumerRef: info?.data?.sub ?? null };
}

const DEFAULT_BASE_URL = 'https://{{workspace}}.my.salesforce.com';
/** The sign-in of all production orgs. It issues tokens of the org to which the person belongs. */
const LOGIN_URL = 'https://login.salesforce.com';
const PUB_SUB_URL = 'https://api.pubsub.salesforce.com:7443';
const ENGAGEMENT_URL = 'https://pi.pardot.com';
/** The base URL for sandboxes and developer orgs. */
const ENGAGEMENT_DEMO_URL = 'https://pi.demo.pardot.com';

function createSharedLogin(url: string): OAuth2Settings['sharedLogin'] {
  const root = `${url.replace(/\/+$/, '')}/services/oauth2`;
  return { authorizeUrl: `${root}/authorize`, tokenUrl: `${root}/token` };
}

const TOKENS = {
  tokenFields: {
    workspaceRef: 'instance_url',
    workspaceAddress: DEFAULT_BASE_URL,
    consumerRef: 'id',
    scopes: 'scope',
  },
  // Token responses contain no lifetime. The org configures how long a session lasts, by default two hours.
  defaultLifetimeSeconds: 2 * 60 * 60,
  // Salesforce, OAuth tokens and scopes: `offline_access` is a synonym of `refresh_token`.
  refreshTokenScopes: ['refresh_token', 'offline_access'],
  // Salesforce, OAuth 2.0 error codes: users and orgs that can't sign in.
  tokenErrors: [
    { code: 'inactive_user', kind: 'AUTH_INVALIDATED' },
    { code: 'inactive_org', kind: 'AUTH_INVALIDATED' },
  ],
} as const satisfies Partial<OAuth2Settings>;

const LIMITS: ProviderLimits = {
  // An org permits 25 concurrent long requests (5 in a developer org), shared by all its apps.
  concurrency: 5,
  // Salesforce's quotas are daily. This limit only prevents bursts.
  requestsPerSecond: 10,
  // A query may take two minutes, but few take half a minute.
  timeoutMs: 60_000,
  // Room for 2,000 rows of 16 KiB each.
  responseBytesMax: 32 * 1024 * 1024,
  batchSize: 100,
  pageSize: 2_000,
};

const features: Provider['features'] = {
  filtersMax: 20,
  associations: false,
  headers: true,
  idempotencyKeyLifetimeMs: null,
  allOrNoneTypes: ['CREATE', 'UPDATE'],
};

const behavior: Behavior = {
  shortPage: 'notDocumented',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  // A record gets its SystemModstamp when it is saved, and appears when its transaction is committed. A transaction may
  // take ten minutes.
  visibility: { lookBackMs: 15 * MINUTE_MS },
  // A query can be continued for two days. A user has ten open queries, and an eleventh one closes the oldest.
  expiredCursor: [{ contains: 'INVALID_QUERY_LOCATOR' }],
  depthLimit: 'none',
  // A query may have 100,000 characters.
  fieldsMax: 'none',
  urlBytesMax: URL_BYTES_MAX,
  // Queries contain columns, but no subqueries, which are the only source of lists.
  nestedLists: 'complete',
  rateLimits: [{ status: 403, contains: 'REQUEST_LIMIT_EXCEEDED' }],
};

interface SalesforceUrls {
  /** Also replaces the URL of the shared login, if `loginUrl` is absent. */
  baseUrl?: string;
  loginUrl?: string;
  engagementUrl?: string;
  pubSubUrl?: string;
}

/** The options replace the URLs of the org and of other services with those of proxies or test servers. */
export function createSalesforceProvider(options: SalesforceUrls = {}): Provider {
  const baseUrl = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const loginUrl = options.loginUrl ?? options.baseUrl ?? LOGIN_URL;
  return {
    name: 'salesforce',
    displayName: 'Salesforce',
    baseUrl,
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE_PKCE'],
    oauth2: {
      authorizeUrl: `${baseUrl}/services/oauth2/authorize`,
      tokenUrl: `${baseUrl}/services/oauth2/token`,
      ...(!loginUrl.includes('{{workspace}}') && { sharedLogin: createSharedLogin(loginUrl) }),
      revocation: { method: 'POST', url: `${baseUrl}/services/oauth2/revoke` },
      authorizeParams: { prompt: 'login' },
      ...TOKENS,
    },
    healthCheck: paths.api,
    workspaceRequired: true,
    modules: [
      { name: 'crm', displayName: 'Salesforce CRM', baseUrl },
      createAccountEngagement('account-engagement', options.engagementUrl ?? ENGAGEMENT_URL),
      createAccountEngagement('account-engagement-demo', ENGAGEMENT_DEMO_URL, ' (demo)'),
    ],
    standardNames,
    ignoresCaseOfNames: true,
    limits: LIMITS,
    features,
    capabilities: {
      identify,
      describeObject,
      defineFields,
      readPage,
      getBehavior: () => behavior,
      readRecords,
      writeRecord,
      writeBatch,
      deleteRecord,
      subscribe: createSubscribe(options.pubSubUrl ?? PUB_SUB_URL),
      proxy: true,
    },
  };
}
