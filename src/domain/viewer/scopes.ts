/** Scopes: what an API key may do. */
import { enumeration } from '../resource.ts';

export const SCOPES = {
  full: "Everything in the key's project, and reading its org. Not credentials in clear.",
  read: 'All queries and subscriptions of the project, without credentials.',
  'connections:write': 'Create, update, refresh and delete connections.',
  'integrations:write': 'Create and delete integrations and their revisions.',
  'installations:write': 'Create, update and delete installations.',
  'records:read': 'Read records from providers on request. Implied by read.',
  'records:write': 'Write records to providers. Approve and reject proposals of agents.',
  'agents:write': 'Create and revoke agent sessions.',
  'reads:control': 'Trigger, pause and resume reads.',
  'events:write': 'Create, update and delete topics, destinations and routes; retry deliveries.',
  'payloads:read': 'Bodies of deliveries, responses of their receivers, and messages of streams.',
  'keys:write': 'Create, update and delete API keys and JWT keys.',
  'provider-apps:write': 'Create, update and delete provider apps.',
  'org:read': "Read the org's data.",
  'org:write': 'Invite builders to the org and revoke invites. Never implied by full.',
  frontend:
    'For pages: what end users may do, for the whole project. Read the project, its integrations, connections and installations, and create, change and delete connections and installations. No destinations, deliveries, credentials or records. A key with this scope alone may be sent from pages of `Project.allowedOrigins`.',
  'credentials:read': 'Credentials and signing secrets in clear. Never implied by another scope.',
} as const;

export type Scope = keyof typeof SCOPES;
export const ALL_SCOPES = Object.keys(SCOPES) as [Scope, ...Scope[]];

const NOT_IN_FULL: readonly Scope[] = ['org:write', 'credentials:read'];

/** True if a key that holds these scopes has the needed one. */
export function allows(held: readonly Scope[], needed: Scope): boolean {
  return (
    held.includes(needed) ||
    (held.includes('full') && !NOT_IN_FULL.includes(needed)) ||
    (held.includes('read') && needed === 'records:read')
  );
}

/** True if a key holds `full` and lacks the needed scope nevertheless. */
export function isMissingInFull(held: readonly Scope[], needed: Scope): boolean {
  return held.includes('full') && !allows(held, needed);
}

/**
 * Scopes of end-user functions that a key for pages may call. They are few, because anyone can copy such a key from a
 * page.
 */
const FOR_PAGES: readonly Scope[] = ['read', 'connections:write', 'installations:write'];

/** True if a key that holds these scopes may call a function that end users may call too. */
export function allowsForPages(held: readonly Scope[], needed: Scope): boolean {
  return held.includes('frontend') && FOR_PAGES.includes(needed);
}

/** True for a key that only has the scope for pages. */
export function isForPages(held: readonly Scope[]): boolean {
  return held.length === 1 && held[0] === 'frontend';
}

function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text);
}

/** The scopes of a stored key. */
export function listScopes({ scopes }: { scopes: readonly string[] }): Scope[] {
  return scopes.filter(isScope);
}

/** The name of a scope in the API's enum, like `PROVIDER_APPS_WRITE` of `provider-apps:write`. */
type ScopeNameOf<S extends string> = S extends `${infer Head}:${infer Tail}`
  ? `${ScopeNameOf<Head>}_${ScopeNameOf<Tail>}`
  : S extends `${infer Head}-${infer Tail}`
    ? `${ScopeNameOf<Head>}_${ScopeNameOf<Tail>}`
    : Uppercase<S>;
export type ScopeName = ScopeNameOf<Scope>;

export function nameOfScope(value: Scope): ScopeName {
  return value.toUpperCase().replaceAll(/[:-]/g, '_') as ScopeName;
}

const SCOPES_BY_NAME = new Map(ALL_SCOPES.map((value) => [nameOfScope(value), value]));

/** The scope of a name. */
export function scopeOfName(name: ScopeName): Scope {
  return SCOPES_BY_NAME.get(name) as Scope;
}

const meanings = ALL_SCOPES.map((scope) => [nameOfScope(scope), SCOPES[scope]]);

/** The name of a scope in the API. */
export const scopeName = enumeration(
  'Scope',
  'A scope: what an API key may do. Error messages name the scopes in the form of REST: `connections:write` for `CONNECTIONS_WRITE`.',
  Object.fromEntries(meanings) as Record<ScopeName, string>,
);

/** Parses the name of a scope. */
export const scope = scopeName.transform(scopeOfName);
