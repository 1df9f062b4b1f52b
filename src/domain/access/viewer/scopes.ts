/** The scopes of API keys, with their descriptions in the API. */
import { enumeration } from '../../base/resource.ts';

export const SCOPES = {
  full: "Everything in the key's project, and reading its org. Not credentials in plain text.",
  read: 'All queries and subscriptions of the project, without credentials.',
  'connections:write': 'Create, update, refresh and delete connections.',
  'integrations:write': 'Create and delete integrations and their revisions.',
  'installations:write': 'Create, update and delete installations.',
  'records:read': 'Read records from providers on request. Implied by read.',
  'records:write': 'Write records to providers. Approve and reject proposals of agents.',
  'agents:write': 'Create and revoke agent sessions.',
  'reads:control': 'Trigger, pause and resume reads.',
  'events:write': 'Create, update and delete topics, destinations and routes; retry deliveries.',
  'payloads:read': 'Bodies of deliveries, responses of their receivers, and stream messages.',
  'keys:write': 'Create, update and delete API keys and JWT keys.',
  'provider-apps:write': 'Create, update and delete provider apps.',
  'providers:write':
    'Create, update and delete custom providers, and test providers with accounts of customers. A change reaches the accounts of all customers.',
  'org:read': "Read the org's data.",
  'org:write':
    'Invite builders to the org as members, and revoke invites. Never implied by full. Only admins of the org can give it to a key.',
  frontend:
    'For pages: what end users may do, for the whole project. Read the project, its integrations, connections and installations, and create, change and delete connections and installations. No destinations, deliveries, credentials or records. A key with this scope alone may be sent from pages of `Project.allowedOrigins`.',
  'credentials:read':
    'Credentials and signing secrets in plain text. Never implied by another scope.',
} as const;

export type Scope = keyof typeof SCOPES;
export const ALL_SCOPES = Object.keys(SCOPES) as [Scope, ...Scope[]];

/** Scopes that `full` does not imply. */
const OUTSIDE_FULL: readonly Scope[] = ['org:write', 'credentials:read'];

/** True if these scopes contain or imply the scope. */
export function includesScope(scopes: readonly Scope[], scope: Scope): boolean {
  return (
    scopes.includes(scope) ||
    (scopes.includes('full') && !OUTSIDE_FULL.includes(scope)) ||
    (scopes.includes('read') && scope === 'records:read')
  );
}

/** True if these scopes contain `full`, which does not imply the scope. */
export function isOutsideFull(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes('full') && !includesScope(scopes, scope);
}

/**
 * The scopes of end-user functions that a page key may call. They are few, because anyone can copy the key from a page.
 */
const PAGE_SCOPES: readonly Scope[] = ['read', 'connections:write', 'installations:write'];

/** True if a key with these scopes may call an end-user function that needs the scope. */
export function includesPageScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes('frontend') && PAGE_SCOPES.includes(scope);
}

/** True for a page key: its only scope is `frontend`. */
export function isPageKey(scopes: readonly Scope[]): boolean {
  return scopes.length === 1 && scopes[0] === 'frontend';
}

function isScope(value: string): value is Scope {
  return Object.hasOwn(SCOPES, value);
}

/** Lists the scopes of a stored key. Omits scopes that no longer exist. */
export function listScopes({ scopes }: { scopes: readonly string[] }): Scope[] {
  return scopes.filter(isScope);
}

/** The name of a scope in the API's enum, like `PROVIDER_APPS_WRITE` for `provider-apps:write`. */
type ScopeNameOf<S extends string> = S extends `${infer Head}:${infer Tail}`
  ? `${ScopeNameOf<Head>}_${ScopeNameOf<Tail>}`
  : S extends `${infer Head}-${infer Tail}`
    ? `${ScopeNameOf<Head>}_${ScopeNameOf<Tail>}`
    : Uppercase<S>;
export type ScopeName = ScopeNameOf<Scope>;

export function toScopeName(scope: Scope): ScopeName {
  return scope.toUpperCase().replaceAll(/[:-]/g, '_') as ScopeName;
}

const SCOPES_BY_NAME = new Map(ALL_SCOPES.map((scope) => [toScopeName(scope), scope]));

export function parseScopeName(name: ScopeName): Scope {
  return SCOPES_BY_NAME.get(name) as Scope;
}

const descriptions = ALL_SCOPES.map((scope) => [toScopeName(scope), SCOPES[scope]]);

export const scopeName = enumeration(
  'Scope',
  'A scope: what an API key may do. Error messages name the scopes in the form of REST: `connections:write` for `CONNECTIONS_WRITE`.',
  Object.fromEntries(descriptions) as Record<ScopeName, string>,
);

/** Parses the name of a scope in the API. */
export const scope = scopeName.transform(parseScopeName);
