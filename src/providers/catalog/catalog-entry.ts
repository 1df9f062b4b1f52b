import type {
  AccountIdentity,
  Provider,
  ProviderLimits,
  ProviderResponse,
  ProviderSession,
} from '../contract.ts';
import { findValue, parseId } from '../declarative/json.ts';
import { isSuccess } from '../read-responses.ts';
import { MICROSOFT_TOKENS } from './microsoft-tokens.ts';

/** A provider in the catalog. */
export interface CatalogEntry
  extends Pick<
    Provider,
    | 'name'
    | 'displayName'
    | 'baseUrl'
    | 'modules'
    | 'hosts'
    | 'hasCustomerHost'
    | 'linkHosts'
    | 'authSchemes'
    | 'credentialsDocsUrl'
    | 'signature'
    | 'rejectsCredentials'
    | 'oauth2'
    | 'apiKey'
    | 'custom'
    | 'healthCheck'
    | 'workspaceRequired'
    | 'workspaceDisplayName'
    | 'workspaceHelp'
  > {}

/** A GET whose response names the account, and the JSON Pointers of the names. */
interface IdentitySettings {
  path: string;
  workspaceRef: string;
  consumerRef?: string;
}

/** A provider in entries.json, to which the gateway only connects and forwards requests. */
export interface ProxyEntry
  extends CatalogEntry,
    Pick<Provider, 'headers' | 'inputs' | 'appInputs'> {
  /** True if the Microsoft identity platform issues the tokens. */
  usesMicrosoftTokens?: true;
  /** The request that finds the account of a token. Absent if the token response names it, or if no source describes one. */
  identity?: IdentitySettings;
  /** The source of the facts, for the page of providers. */
  checkedAgainst: string;
  /** Sentences for the page of providers. */
  notes?: readonly string[];
}

/**
 * Limits of providers whose own limits are not declared. If a limit is too high, the provider returns 429 and the
 * request is delayed.
 */
export const DEFAULT_LIMITS: ProviderLimits = {
  // Enough for ten requests per second that take half a second each.
  concurrency: 5,
  // Between Notion's 3 and Stripe's 100.
  requestsPerSecond: 10,
  // Reports and searches take seconds. Vendors' own gateways end requests after about 30 seconds.
  timeoutMs: 30_000,
  // More than any page of records. The proxy is not intended for files.
  responseBytesMax: 10 * 1024 * 1024,
  // Only used by providers with code for batches and pages.
  batchSize: 100,
  pageSize: 100,
};

/** Creates a provider that supports connections and the proxy. Its objects are unknown. */
export function createCatalogProvider(settings: CatalogEntry): Provider {
  return {
    ...settings,
    limits: DEFAULT_LIMITS,
    features: {
      associations: false,
      headers: false,
      idempotencyKeyLifetimeMs: null,
      allOrNoneTypes: [],
    },
    capabilities: { proxy: true },
  };
}

/** AWS, Common errors: the exceptions for an unknown access key and for a wrong signature. */
const AWS_REJECTIONS = /\b(UnrecognizedClient|InvalidSignature|InvalidClientTokenId)/;

function rejectsAwsKey({ body }: ProviderResponse): boolean {
  const type = Object(body).__type;
  return typeof type === 'string' && AWS_REJECTIONS.test(type);
}

/** Creates the provider of a row in entries.json. */
export function createProxyProvider({ identity, ...row }: ProxyEntry): Provider {
  const provider = createForwardingProvider(row);
  if (!identity) return provider;
  const identify = (session: ProviderSession) => requestIdentity(session, identity);
  return { ...provider, capabilities: { ...provider.capabilities, identify } };
}

function createForwardingProvider({
  usesMicrosoftTokens,
  checkedAgainst: _,
  notes: __,
  ...entry
}: Omit<ProxyEntry, 'identity'>): Provider {
  const { oauth2, signature } = entry;
  if (signature) return createCatalogProvider({ ...entry, rejectsCredentials: rejectsAwsKey });
  if (!usesMicrosoftTokens || !oauth2) return createCatalogProvider(entry);
  return createCatalogProvider({ ...entry, oauth2: { ...oauth2, ...MICROSOFT_TOKENS } });
}

async function requestIdentity(
  session: ProviderSession,
  { path, workspaceRef, consumerRef }: IdentitySettings,
): Promise<AccountIdentity> {
  const response = await session.send({ method: 'GET', path });
  const find = (pointer: string | undefined) =>
    pointer === undefined || !isSuccess(response)
      ? null
      : parseId(findValue(response.body, pointer));
  return { workspaceRef: find(workspaceRef), consumerRef: find(consumerRef) };
}
