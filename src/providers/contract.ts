/**
 * The interface of a provider: metadata, and the capabilities that it implements. Providers do not import each other.
 * test/providers/contract.ts tests every provider against this interface.
 */
import type { MaskText } from '../work/secret-mask.ts';
import type { Behavior } from './behavior.ts';
import type { DefineFieldsCapability } from './defining-fields.ts';
import type { FieldDescription, ObjectDescription, ObjectSummary } from './descriptions.ts';
import type { InputGrant } from './input-grants.ts';
import type {
  BatchWrite,
  ListRequest,
  PageRead,
  ProviderRecord,
  RecordOutcome,
  RecordPage,
  RecordRemoval,
  RecordsRead,
  RecordWrite,
} from './moving-records.ts';
import type { Attachment, OAuth2Settings } from './oauth2-settings.ts';
import type { SubscribeCapability } from './subscribing.ts';

export type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ObjectSummary,
} from './descriptions.ts';
export { FIELD_VALUE_TYPES } from './descriptions.ts';
export type { Attachment, OAuth2Settings, Revocation, TokenErrorRule } from './oauth2-settings.ts';
export const AUTH_SCHEMES = [
  'NONE',
  'API_KEY',
  'BASIC',
  'OAUTH2_AUTHORIZATION_CODE',
  'OAUTH2_AUTHORIZATION_CODE_PKCE',
  'OAUTH2_CLIENT_CREDENTIALS',
  'OAUTH2_PASSWORD',
] as const;
export type AuthScheme = (typeof AUTH_SCHEMES)[number];

/** Schemes in which a person consents in a browser. */
export const CONSENT_SCHEMES = [
  'OAUTH2_AUTHORIZATION_CODE',
  'OAUTH2_AUTHORIZATION_CODE_PKCE',
] as const satisfies AuthScheme[];

export function isConsentScheme(scheme: AuthScheme): scheme is (typeof CONSENT_SCHEMES)[number] {
  return CONSENT_SCHEMES.some((consentScheme) => consentScheme === scheme);
}

export const PROVIDER_CAPABILITIES = [
  'READ',
  'WRITE',
  'DELETE',
  'BATCH_WRITE',
  'METADATA',
  'PROXY',
  'SUBSCRIBE',
] as const;
export type ProviderCapability = (typeof PROVIDER_CAPABILITIES)[number];

/** Help for a value that customers enter when they connect. */
export interface InputHelp {
  /** Says where the customer finds the value. Backticks enclose code. */
  prompt?: string;
  /** The vendor's page about the value. */
  docsUrl?: string;
  /** The value that forms suggest. */
  defaultValue?: string;
}

/** A value that customers enter when they connect, besides the workspace. */
export interface CustomInput extends InputHelp {
  name: string;
  displayName: string;
  optional?: true;
}

/** A value that builders enter at a provider app. */
export interface AppInput extends CustomInput {
  /** The modules that use the value. Absent if all do. */
  modules?: readonly string[];
}

/** A value of custom authentication. */
interface CredentialInput extends CustomInput {
  /** True if forms show the value. Default: they mask it, because it is a secret. */
  visible?: true;
}

/** Custom authentication: headers and query parameters with the customer's inputs (`{{name}}`), or tokens. */
interface CustomAuthSettings {
  inputs: CredentialInput[];
  headers?: { name: string; valueTemplate: string }[];
  queryParams?: { name: string; valueTemplate: string }[];
  /** How the inputs are exchanged for a token, which requests carry instead of the inputs. */
  grant?: InputGrant;
}

export interface ProviderLimits {
  /** The maximum number of concurrent requests of one connection. */
  concurrency: number;
  requestsPerSecond: number;
  timeoutMs: number;
  /** The largest response body that is read, in bytes. */
  responseBytesMax: number;
  /** The maximum number of records in a batch write. */
  batchSize: number;
  /** The maximum number of records in a page of a read. */
  pageSize: number;
}

/** The part of a provider that reads and writes records. */
export type Connector = Pick<
  Provider,
  | 'objects'
  | 'objectAliases'
  | 'commonObjects'
  | 'standardNames'
  | 'ignoresCaseOfNames'
  | 'limits'
  | 'features'
  | 'capabilities'
>;

/** A part of a provider, usually with its own base URL. */
export interface ProviderModule {
  /** The name in integrations, unique in the provider. */
  name: string;
  /** Other names that manifests may use for it. Stored revisions have `name`. */
  aliases?: readonly string[];
  displayName: string;
  baseUrl: string;
  /** Members of the metadata that a connection needs for the module. */
  inputs?: readonly CustomInput[];
  /** Headers of every request to the module. `{{name}}` is a member of the connection's metadata. */
  headers?: Readonly<Record<string, string>>;
  /** Reads and writes records of the module. Default: the provider's own connector. */
  connector?: Connector;
}

/** Identifies the document that describes a custom provider. */
interface DocumentOrigin {
  /** The only project that has the provider. */
  projectId: string;
  /** Identifies the document and its version. */
  revision: string;
  /** A hash of the addresses to which credentials are sent. */
  credentialTargets: string;
}

export interface Provider {
  name: string;
  /** Present if a document of a project describes the provider. Only this project has it. */
  document?: DocumentOrigin;
  displayName: string;
  baseUrl: string;
  /** The first module is the default. Absent if the provider has no modules. */
  modules?: readonly ProviderModule[];
  /**
   * Permitted hosts for each variable that stands for a whole host or URL. `*.` permits all subdomains. Without this list
   * a caller could have secrets sent to any host.
   */
  hosts?: Readonly<Record<string, readonly string[]>>;
  /**
   * True if the workspace is the customer's own host, which no list can name. Stored credentials are only sent to the origin
   * that they were entered for. The secret of a provider app is only sent to the host that the app names.
   */
  hasCustomerHost?: boolean;
  /**
   * Hosts besides that of `baseUrl` that links in responses may point to. `*.` permits all subdomains. Requests that
   * follow such links carry the connection's credentials.
   */
  linkHosts?: readonly string[];
  /** Headers of every request. `{{name}}` is a member of the connection's metadata. */
  headers?: Readonly<Record<string, string>>;
  /** In order of preference: the first scheme that matches the credentials is used. */
  authSchemes: AuthScheme[];
  /** The vendor's page about credentials of the first scheme. */
  credentialsDocsUrl?: string;
  /**
   * Requests carry a signature instead of the password: of AWS Signature Version 4, with the access key as user name and
   * password. Hosts are `<service>.<region>.amazonaws.com`.
   */
  signature?: 'AWS4';
  oauth2?: OAuth2Settings;
  apiKey?: Attachment;
  custom?: CustomAuthSettings;
  /**
   * A request, or the path of a GET, with a small response to valid credentials of any scopes, and 401 to invalid ones. It
   * decides whether credentials are valid.
   */
  healthCheck?: string | ProviderRequest;
  /** True if a response rejects the credentials, and does not report a missing scope. Default: true for every 401. */
  rejectsCredentials?: (response: ProviderResponse) => boolean;
  /**
   * True if connections need a workspace that the token response does not always name. A consent at
   * `oauth2.sharedLogin` does not need it.
   */
  workspaceRequired?: boolean;
  /** The vendor's word for the workspace. Default: "Workspace". */
  workspaceDisplayName?: string;
  workspaceHelp?: InputHelp;
  /** All object names. Absent if an account may have any object. */
  objects?: readonly string[];
  /** The provider's name of an object by its aliases, which manifests may use. */
  objectAliases?: ReadonlyMap<string, string>;
  /** The objects that every account has. */
  commonObjects?: readonly CommonObject[];
  /**
   * The vendor's own objects, with the names of their fields if they are known. Misspelled names in manifests are compared
   * with them. An account may lack some of them, and have others. Absent if `commonObjects` has these names.
   */
  standardNames?: StandardNames;
  /** True if names of objects and fields are equal regardless of case. */
  ignoresCaseOfNames?: boolean;
  /** The URL of the vendor's documentation. */
  docsUrl?: string;
  apiVersion?: string;
  /** The OAuth scopes that are needed to read and write all objects. */
  scopes?: readonly string[];
  /** Members of the metadata that a connection needs besides credentials and workspace. */
  inputs?: readonly CustomInput[];
  /** Members of the metadata of a provider app, in the lists of their names. */
  appInputs?: {
    authQueryParams?: readonly AppInput[];
    providerParams?: readonly AppInput[];
  };
  limits: ProviderLimits;
  /** Optional features of reads and writes that the provider supports. */
  features: {
    /** The maximum number of conditions in a search. Absent or 0 if records cannot be searched. */
    filtersMax?: number;
    associations: boolean;
    headers: boolean;
    /** How long the provider is known to honor an idempotency key, in milliseconds. Null if it has no such keys. */
    idempotencyKeyLifetimeMs: number | null;
    /** The batch types that the provider can refuse as a whole. */
    allOrNoneTypes: readonly BatchWrite['type'][];
  };
  capabilities: Capabilities;
}

/** The account of a connection. Members are null if the provider does not return them. */
export interface AccountIdentity {
  workspaceRef: string | null;
  /** The provider's id of the person. */
  consumerRef: string | null;
}

export type Capabilities = OtherCapabilities &
  (ReadCapability | { [Name in keyof ReadCapability]?: undefined });

/** Reads records. */
export interface ReadCapability {
  readPage(session: ProviderSession, read: PageRead): Promise<RecordPage>;
  /** Returns how the list of an object behaves. */
  getBehavior(objectName: string): Behavior;
}

interface OtherCapabilities {
  /** Finds the account of an access token. Needed if the token response does not name it. */
  identify?: (session: ProviderSession, accessToken: string) => Promise<AccountIdentity>;
  /** Lists the account's objects, including custom ones if the provider lists them. */
  listObjects?: (session: ProviderSession) => Promise<ObjectSummary[]>;
  describeObject?: (session: ProviderSession, objectName: string) => Promise<ObjectDescription>;
  /** Creates and updates fields of the account's objects, which `describeObject` then returns. */
  defineFields?: DefineFieldsCapability;
  writeRecord?: (session: ProviderSession, write: RecordWrite) => Promise<RecordOutcome>;
  /** Returns one outcome for each record, in the order of the records. */
  writeBatch?: (session: ProviderSession, write: BatchWrite) => Promise<RecordOutcome[]>;
  deleteRecord?: (session: ProviderSession, removal: RecordRemoval) => Promise<RecordOutcome>;
  /** Yields the pages of a list that a client reads through the proxy. Throws BAD_REQUEST if the path is not a list. */
  listPages?: (
    session: ProviderSession,
    request: ListRequest,
  ) => AsyncGenerator<Record<string, unknown>[]>;
  /**
   * Reads at most `limits.batchSize` records by id, in any order. Omits deleted ones. Each record has its id as the request
   * spells it. Throws ProviderError if it is unknown whether a record exists.
   */
  readRecords?: (session: ProviderSession, read: RecordsRead) => Promise<ProviderRecord[]>;
  /** Subscribes to events. They are mapped like reads, so `readRecords` is required too. */
  subscribe?: SubscribeCapability;
  /** Present if clients may send requests through the proxy. */
  proxy?: true;
}

/** Returns the capabilities that the provider implements. */
export function listCapabilities({ capabilities }: Provider): ProviderCapability[] {
  const isSupported: Record<ProviderCapability, boolean> = {
    READ: capabilities.readPage !== undefined,
    WRITE: capabilities.writeRecord !== undefined,
    DELETE: capabilities.deleteRecord !== undefined,
    BATCH_WRITE: capabilities.writeBatch !== undefined,
    METADATA: capabilities.describeObject !== undefined,
    PROXY: capabilities.proxy === true,
    SUBSCRIBE: capabilities.subscribe !== undefined,
  };
  return PROVIDER_CAPABILITIES.filter((capability) => isSupported[capability]);
}

/** Returns the capabilities of the provider for this object. A provider may read objects that it can't write. */
export function listObjectCapabilities(
  provider: Provider,
  objectName: string,
): readonly ProviderCapability[] {
  const object = provider.commonObjects?.find(({ name }) => name === objectName);
  return object?.supports ?? listCapabilities(provider);
}

/** True if the provider has the capability for this object. */
export function supportsCapability(
  provider: Provider,
  objectName: string,
  capability: ProviderCapability,
): boolean {
  return listObjectCapabilities(provider, objectName).includes(capability);
}

/**
 * An authenticated session with the account of one connection. `send` adds the credentials, respects the provider's
 * limits and refreshes a rejected token once. It resolves for every HTTP status, and throws ProviderError if there was no
 * usable response.
 */
export interface ProviderSession {
  /** The connection's base URL with its variables replaced, without a trailing slash. */
  baseUrl: string;
  /** The connection's `workspace` or a member of its provider metadata. Null if it is absent. */
  findMetadata(name: string): string | null;
  /** The current time of the gateway, for lists that require an end date. */
  now(): Date;
  send(request: ProviderRequest): Promise<ProviderResponse>;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /**
   * Appended to the base URL: empty, or starts with a slash. An absolute URL must have the origin of the base URL or a
   * host of `linkHosts`.
   */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  body?: unknown;
  /** The encoding of the body. Default: JSON. A form uses brackets for nesting: `a[b]=c`. */
  bodyFormat?: 'json' | 'form';
}

export interface ProviderResponse {
  status: number;
  /** The names are in lower case. */
  headers: Record<string, string>;
  /** The parsed JSON, a string if it is not JSON, or null if it is empty. */
  body: unknown;
  /** Masks the secrets of the request and of its connection, which errors may repeat. Records are not masked. */
  mask: MaskText;
}

/** Names of fields by the name of the object. */
export type StandardNames = ReadonlyMap<string, readonly string[]>;

/** An object that every account has. */
export interface CommonObject extends ObjectSummary {
  supports: readonly ProviderCapability[];
  /** The maximum number of conditions in a search. Default: `features.filtersMax`. */
  filtersMax?: number;
  /** True if records can be read by id. Default: true if the provider has `readRecords`. */
  canReadByIds?: boolean;
  /** The writes that the object supports. Default: both, if it supports WRITE. */
  writes?: readonly BatchWrite['type'][];
  /** True if a search may name the field. Default: all fields. */
  isSearchable?: ((fieldName: string) => boolean) | undefined;
  /** The fields that every account has. Absent if only the account describes them. */
  fields?: readonly FieldDescription[];
}
