/** The Salesforce provider: its settings, limits and capabilities. */
import { z } from 'zod';
import { parseBounded } from '../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { Behavior } from '../behavior.ts';
import type {
  AccountIdentity,
  CustomInput,
  OAuth2Settings,
  Provider,
  ProviderLimits,
  ProviderModule,
  ProviderSession,
  TokenErrorRule,
} from '../contract.ts';
import type { InputGrant } from '../input-grants.ts';
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
const DOMAIN_GUIDE =
  'https://help.salesforce.com/s/articleView?language=en_US&id=sf.faq_domain_name_what.htm&type=5';
const PUB_SUB_URL = 'https://api.pubsub.salesforce.com:7443';
const ENGAGEMENT_URL = 'https://pi.pardot.com';
/** The base URL for sandboxes and developer orgs. */
const ENGAGEMENT_DEMO_URL = 'https://pi.demo.pardot.com';

function createSharedLogin(url: string): OAuth2Settings['sharedLogin'] {
  const root = `${url.replace(/\/+$/, '')}/services/oauth2`;
  return { authorizeUrl: `${root}/authorize`, tokenUrl: `${root}/token` };
}

/** Salesforce, OAuth 2.0 error codes: users and orgs that can't sign in. */
const SIGN_IN_ERRORS: TokenErrorRule[] = [
  { code: 'inactive_user', kind: 'AUTH_INVALIDATED' },
  { code: 'inactive_org', kind: 'AUTH_INVALIDATED' },
];

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
  tokenErrors: SIGN_IN_ERRORS,
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

/** Creates the API of an org, which is the same for each way to sign in. */
function createOrgApi({ baseUrl: configuredUrl = DEFAULT_BASE_URL, pubSubUrl }: SalesforceUrls) {
  const baseUrl = configuredUrl.replace(/\/+$/, '');
  const crm: ProviderModule = { name: 'crm', displayName: 'Salesforce CRM', baseUrl };
  return {
    baseUrl,
    workspaceRequired: true,
    workspaceDisplayName: 'Subdomain',
    workspaceHelp: { docsUrl: DOMAIN_GUIDE },
    modules: [crm],
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
      subscribe: createSubscribe(pubSubUrl ?? PUB_SUB_URL),
      proxy: true,
    },
  } satisfies Partial<Provider>;
}

/** The options replace the URLs of the org and of other services with those of proxies or test servers. */
export function createSalesforceProvider(options: SalesforceUrls = {}): Provider {
  const api = createOrgApi(options);
  const { baseUrl } = api;
  const loginUrl = options.loginUrl ?? options.baseUrl ?? LOGIN_URL;
  return {
    ...api,
    name: 'salesforce',
    displayName: 'Salesforce',
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
    appInputs: {
      providerParams: [
        {
          name: 'packageInstallURL',
          displayName: 'External Client App Install URL',
          prompt:
            'The https URL where customers install the package of your External Client App. The connect page links to it.',
          docsUrl:
            'https://developer.salesforce.com/docs/atlas.en-us.pkg1_dev.meta/pkg1_dev/packaging_install.htm',
          optional: true,
        },
      ],
    },
    modules: [
      ...api.modules,
      createAccountEngagement('account-engagement', options.engagementUrl ?? ENGAGEMENT_URL),
      createAccountEngagement('account-engagement-demo', ENGAGEMENT_DEMO_URL, ' (demo)'),
    ],
  };
}

/** Salesforce, OAuth 2.0 JWT Bearer Flow: an app signs in as a user, with a key whose certificate the org knows. */
function createJwtBearer(baseUrl: string): InputGrant {
  return {
    type: 'JWT_BEARER',
    tokenUrl: `${baseUrl}/services/oauth2/token`,
    // Token responses contain no lifetime, and a new token needs no person. So it replaces the old one long before two
    // hours, the default of an org.
    defaultLifetimeSeconds: 30 * 60,
    tokenErrors: [
      ...SIGN_IN_ERRORS,
      { code: 'invalid_client_id', kind: 'AUTH_INVALIDATED' },
      { code: 'invalid_app_access', kind: 'AUTH_INVALIDATED' },
    ],
    assertion: {
      key: 'privateKey',
      keyFormat: 'pem',
      issuer: '{{clientId}}',
      subject: '{{username}}',
      audience: LOGIN_URL,
      // The name of a sandbox is `<org>--<sandbox>`.
      otherAudience: { workspacePart: '--', audience: 'https://test.salesforce.com' },
      lifetimeSeconds: 3 * 60,
    },
  };
}

const JWT_GUIDE =
  'https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_jwt_flow.htm&type=5';
const JWT_INPUTS: CustomInput[] = [
  {
    name: 'clientId',
    displayName: 'Consumer Key',
    prompt:
      'The Consumer Key (Client ID) of the Salesforce External Client App configured for JWT Bearer flow. Found under Setup → External Client App Manager → [Your App] → Settings → OAuth Settings -> Consumer Key and Secret.',
    docsUrl: JWT_GUIDE,
  },
  {
    name: 'username',
    displayName: 'Salesforce Username',
    prompt:
      "The Salesforce username the integration should act as (e.g. integration.user@acme.com). This becomes the JWT 'sub' claim. The user must be pre-authorized on the External Client App.",
    docsUrl: JWT_GUIDE,
  },
  {
    name: 'privateKey',
    displayName: 'Base64 encoded Private Key (PEM)',
    prompt:
      "The base64-encoded RSA private key (PEM) whose X.509 certificate is registered on the External Client App under OAuth Settings → 'Use digital signatures'. Must be RSA — EC keys are not supported by Salesforce for this flow.",
    docsUrl: JWT_GUIDE,
  },
];

/** Salesforce without a consent. The inputs have the names of the reference API. */
export function createSalesforceJwtProvider(options: SalesforceUrls = {}): Provider {
  const api = createOrgApi(options);
  return {
    ...api,
    name: 'salesforceJWT',
    displayName: 'Salesforce (JWT)',
    workspaceHelp: {
      ...api.workspaceHelp,
      prompt:
        'Your Salesforce My Domain subdomain (e.g. `acme` for acme.my.salesforce.com, or `acme--dev.sandbox` for sandbox).',
    },
    authSchemes: ['NONE'],
    custom: {
      inputs: JWT_INPUTS,
      grant: createJwtBearer(api.baseUrl),
    },
    healthCheck: paths.userInfo,
  };
}
