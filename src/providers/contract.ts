/**
 * What a provider is: declared metadata plus the capabilities that its code really has.
 * Each provider is a folder of its own (or a row of catalogue.ts) and imports no other;
 * test/providers/contract.ts holds all of them to this file.
 */

import type { DefineFieldsCapability } from './defining-fields.ts';
import type { ObjectDescription, ObjectSummary } from './descriptions.ts';
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
import type { SubscribeCapability } from './subscribing.ts';

export type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ObjectSummary,
} from './descriptions.ts';
export { FIELD_VALUE_TYPES } from './descriptions.ts';

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

/** The schemes by which a person agrees in a browser. */
export const CONSENT_SCHEMES = [
  'OAUTH2_AUTHORIZATION_CODE',
  'OAUTH2_AUTHORIZATION_CODE_PKCE',
] as const satisfies AuthScheme[];

export function isConsentScheme(scheme: AuthScheme): scheme is (typeof CONSENT_SCHEMES)[number] {
  return CONSENT_SCHEMES.some((one) => one === scheme);
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

/** Where a secret goes in a request: a header (with a prefix before the value) or a query parameter. */
export type Attachment =
  | { in: 'header'; name: string; valuePrefix?: string }
  | { in: 'query'; name: string };

/** POST sends the token and the client as a form (RFC 7009), DELETE has the token at the end of the URL. */
export interface Revocation {
  method: 'POST' | 'DELETE';
  url: string;
}

/** Token facts of an OAuth 2 provider. URLs may hold `{{variable}}`, filled from a connection's workspace and metadata. */
export interface OAuth2Facts {
  authorizeUrl?: string;
  tokenUrl: string;
  /** Query parameters that the authorize request always carries. */
  authorizeParams?: Record<string, string>;
  /** The provider refuses an authorize request that names no scopes. */
  explicitScopesRequired?: boolean;
  /** Where tokens are given up; left out if the provider has nowhere, or it is not known. */
  revocation?: Revocation;
  /** How the client proves itself at the token URL. Default: in the body. */
  clientAuthentication?: 'body' | 'basic';
  /** Paths (dotted) of values in the token answer that a connection keeps. */
  tokenFields?: { workspaceRef?: string; consumerRef?: string; scopes?: string };
  /** Lifetime to assume when the token answer names none, in seconds. */
  defaultLifetimeSeconds?: number;
  /** Between the scopes of an authorize or token request. Default: a space. */
  scopeSeparator?: string;
  /** Where the access token goes. Default: `Authorization: Bearer`. */
  tokenAttachment?: Attachment;
}

/** A value that customers give when they connect, beside a workspace. */
export interface CustomInput {
  name: string;
  displayName: string;
  /** It may be left out. */
  optional?: true;
}

/** Inputs that are a service account's: a statement that its key signs is exchanged for tokens. */
export interface ServiceAccountFacts {
  tokenUrl: string;
  /** The names of the inputs: the key file as base64, the list of scopes, and whom the account acts for. */
  key: string;
  scopes: string;
  subject?: string;
}

/** Custom authentication: headers and query parameters made from the customer's inputs (`{{name}}`), or tokens. */
export interface CustomAuthFacts {
  inputs: CustomInput[];
  headers?: { name: string; valueTemplate: string }[];
  queryParams?: { name: string; valueTemplate: string }[];
  /** Requests then have the token as a bearer. */
  serviceAccount?: ServiceAccountFacts;
}

export interface ProviderLimits {
  /** Requests in flight for one connection. */
  concurrency: number;
  requestsPerSecond: number;
  timeoutMs: number;
  /** Largest answer that is read, in bytes. */
  answerBytes: number;
  /** Records in one batch write. */
  batchSize: number;
  /** Records in one page of a read. */
  pageSize: number;
}

/** What does the work with a provider's records, and what it takes. */
export type Connector = Pick<
  Provider,
  'objects' | 'objectAliases' | 'commonObjects' | 'limits' | 'takes' | 'capabilities'
>;

/** A part of a provider, with an address of its own. */
export interface ProviderModule {
  /** The name in integrations, unique in the provider. */
  name: string;
  /** Other names that manifests may use for it. Stored revisions have `name`. */
  aliases?: readonly string[];
  displayName: string;
  baseUrl: string;
  /** Facts that a connection needs for it: members of its metadata. */
  inputs?: readonly CustomInput[];
  /** Of every request to it; `{{name}}` is a fact of the connection. */
  headers?: Readonly<Record<string, string>>;
  /** Reads and writes at that address. Left out: the provider's own code does. */
  connector?: Connector;
}

export interface Provider {
  name: string;
  displayName: string;
  baseUrl: string;
  /** The first is that of an integration that names none. Left out: the provider is all there is. */
  modules?: readonly ProviderModule[];
  /**
   * Where a variable stands for a whole host or address, by its name: the hosts that it may name, of which `*.` begins
   * all below a domain. Without them a caller could send secrets anywhere.
   */
  hosts?: Readonly<Record<string, readonly string[]>>;
  /**
   * Hosts beside that of `baseUrl` to which links in the provider's answers may lead. `*.` stands for all names below a
   * domain. Requests that follow such links carry the credentials of the connection.
   */
  linkHosts?: readonly string[];
  /** Of every request; `{{name}}` is a fact of the connection. */
  headers?: Readonly<Record<string, string>>;
  /** In order of preference: the first that fits a credential is taken. */
  authSchemes: AuthScheme[];
  oauth2?: OAuth2Facts;
  apiKey?: Attachment;
  custom?: CustomAuthFacts;
  /** A path that every valid credential may GET, and that costs little; others are answered by a 401. */
  healthCheck?: string;
  /** The base URL needs a workspace (`{{workspace}}`), which connecting therefore asks for. */
  workspaceRequired?: boolean;
  /** Object names that exist; left out if a customer's account may hold any. */
  objects?: readonly string[];
  /** The provider's own name of an object, by each other name that manifests may use for it. */
  objectAliases?: ReadonlyMap<string, string>;
  /** The objects that every account has. */
  commonObjects?: readonly CommonObject[];
  /** The vendor's documentation, and the version of its API that is used. */
  docsUrl?: string;
  apiVersion?: string;
  /** The OAuth scopes that reading and writing all objects needs. */
  scopes?: readonly string[];
  /** Facts that a connection must know beside its credentials and workspace: members of its metadata. */
  inputs?: readonly CustomInput[];
  limits: ProviderLimits;
  /** Features that only some providers take on a write or a read. */
  takes: {
    /** Conditions on fields in a read, at most so many; left out if records can't be filtered. */
    filters?: number;
    associations: boolean;
    headers: boolean;
    /** How long it surely does the same once under a key that was sent, in milliseconds; null if it knows no keys. */
    idempotencyKeyMs: number | null;
    /** The types of batches that it can refuse as a whole if one record is refused. */
    allOrNone: readonly BatchWrite['type'][];
  };
  capabilities: Capabilities;
}

/** Whose account a connection is to; null for what the provider does not tell. */
export interface AccountIdentity {
  workspaceRef: string | null;
  /** The provider's id of the person. */
  consumerRef: string | null;
}

export interface Capabilities {
  /** Tells whose the tokens are, if the answer that brought them does not. */
  identify?: (session: ProviderSession, accessToken: string) => Promise<AccountIdentity>;
  /** The account's objects, custom ones included if the provider lists them. */
  listObjects?: (session: ProviderSession) => Promise<ObjectSummary[]>;
  describeObject?: (session: ProviderSession, objectName: string) => Promise<ObjectDescription>;
  /** Makes and changes fields of the account's objects. What it makes, `describeObject` describes. */
  defineFields?: DefineFieldsCapability;
  readPage?: (session: ProviderSession, read: PageRead) => Promise<RecordPage>;
  writeRecord?: (session: ProviderSession, write: RecordWrite) => Promise<RecordOutcome>;
  /** One outcome for each record, in the order given. */
  writeBatch?: (session: ProviderSession, write: BatchWrite) => Promise<RecordOutcome[]>;
  deleteRecord?: (session: ProviderSession, removal: RecordRemoval) => Promise<RecordOutcome>;
  /** All pages of a list that requests can be forwarded to. Throws BAD_REQUEST if the path is not a list. */
  listPages?: (
    session: ProviderSession,
    request: ListRequest,
  ) => AsyncGenerator<Record<string, unknown>[]>;
  /** Records by their ids, at most `limits.batchSize` of them, in any order; those that are gone are left out. */
  readRecords?: (session: ProviderSession, read: RecordsRead) => Promise<ProviderRecord[]>;
  /** What the provider tells by itself. Its events are mapped as reads are, so it needs `readRecords`. */
  subscribe?: SubscribeCapability;
  /** Requests may be forwarded as they are, with the connection's credentials. */
  proxy?: true;
}

/** What `Provider.supports` says of a provider: exactly the capabilities that its code has. */
export function supportedCapabilities({ capabilities }: Provider): ProviderCapability[] {
  const has: Record<ProviderCapability, boolean> = {
    READ: capabilities.readPage !== undefined,
    WRITE: capabilities.writeRecord !== undefined,
    DELETE: capabilities.deleteRecord !== undefined,
    BATCH_WRITE: capabilities.writeBatch !== undefined,
    METADATA: capabilities.describeObject !== undefined,
    PROXY: capabilities.proxy === true,
    SUBSCRIBE: capabilities.subscribe !== undefined,
  };
  return PROVIDER_CAPABILITIES.filter((capability) => has[capability]);
}

/** The same of one object: a provider may read objects that it can't write. */
export function supportsFor(
  provider: Provider,
  objectName: string,
  capability: ProviderCapability,
): boolean {
  const object = provider.commonObjects?.find(({ name }) => name === objectName);
  return (object?.supports ?? supportedCapabilities(provider)).includes(capability);
}

/**
 * An authenticated session with one connection's account. `send` adds the credentials, keeps to the
 * provider's limits, refreshes a token that was refused once, and resolves for every HTTP answer
 * whatever its status; it throws ProviderError if there was no usable answer.
 */
export interface ProviderSession {
  /** The connection's base URL, variables filled in, without a trailing slash. */
  baseUrl: string;
  /** A fact of the connection: its `workspace`, or a member of its provider metadata; null if it has none. */
  fact(name: string): string | null;
  /** The gateway's time, for lists that name a range of dates up to today. */
  now(): Date;
  send(request: ProviderRequest): Promise<ProviderAnswer>;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Joined to the base URL; empty, or starts with a slash. An absolute URL must have the base URL's origin, or a host of `linkHosts`. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  body?: unknown;
  /** How the body is written. Default: as JSON. A form nests by brackets: `a[b]=c`. */
  bodyFormat?: 'json' | 'form';
}

export interface ProviderAnswer {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Parsed JSON; the text itself if it is not JSON; null if it is empty. */
  body: unknown;
}

/** An object that every account has, and what can be done with its records. */
export interface CommonObject extends ObjectSummary {
  supports: readonly ProviderCapability[];
  /** Conditions on its fields in a read, at most so many. Left out: as many as the provider takes. */
  filters?: number;
  /** Left out: as the provider reads records by their ids. */
  isReadByIds?: boolean;
}
