/** TypeIDs: prefix + UUIDv7. Unique everywhere, sorted by time, and the prefix tells the type. */
import { fromString, typeidUnboxed } from 'typeid-js';
import { z } from 'zod';

/** The tables whose rows have an id of their own, by prefix. */
export const ID_PREFIXES = {
  org: 'Org',
  bld: 'Builder',
  bil: 'BillingAccount',
  inv: 'Invite',
  dom: 'ClaimedDomain',
  prj: 'Project',
  key: 'ApiKey',
  jwk: 'JwtKey',
  app: 'ProviderApp',
  grp: 'Group',
  csm: 'Consumer',
  con: 'Connection',
  int: 'Integration',
  rev: 'Revision',
  ins: 'Installation',
  cfg: 'InstallationConfig',
  opr: 'Operation',
  log: 'OperationLog',
  top: 'Topic',
  dst: 'Destination',
  etr: 'EventTopicRoute',
  tdr: 'TopicDestinationRoute',
  evt: 'NotificationEvent',
  dlv: 'Delivery',
  att: 'DeliveryAttempt',
  msg: 'StreamMessage',
  sec: 'SubscriptionSecret',
} as const;

export type IdPrefix = keyof typeof ID_PREFIXES;

export function newId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}

/** What sorts before every id of that time and later, and after all earlier ones. */
export function firstIdAt(prefix: IdPrefix, timeMs: number): string {
  const time = Math.min(Math.max(0, Math.floor(timeMs)), TIME_MAX_MS);
  const digits = Array.from({ length: TIME_DIGITS }, (_, place) => {
    const shifted = Math.floor(time / 32 ** (TIME_DIGITS - 1 - place));
    return ID_DIGITS[shifted % 32];
  });
  return `${prefix}_${digits.join('')}`;
}

/** Of a UUIDv7 in base 32 (typeid.io): its time is in the first 50 bits, of which two are unused. */
const ID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10;
const TIME_MAX_MS = 2 ** 48 - 1;

/** The prefix of a well-formed id of one of our types, else null. */
export function prefixOf(id: string): IdPrefix | null {
  const prefix = id.slice(0, id.indexOf('_'));
  if (!Object.hasOwn(ID_PREFIXES, prefix)) return null;
  try {
    fromString(id);
    return prefix as IdPrefix;
  } catch {
    return null;
  }
}

const PROVIDER_ID_PREFIX = 'prv_';

/** Providers are no rows: their id is built from the name, so it is the same on every server. */
export function providerId(name: string): string {
  return `${PROVIDER_ID_PREFIX}${name}`;
}

/** The name in the id of a provider; null for other ids. */
export function providerNameOf(id: string): string | null {
  return id.startsWith(PROVIDER_ID_PREFIX) ? id.slice(PROVIDER_ID_PREFIX.length) : null;
}

/** An id in an input. The domain finds out which row it names, if any. */
export const id = z.string().min(1).max(64).meta({ graphql: 'ID' });

/** Names may not look like an id, so that "id or name" is never ambiguous. */
export function looksLikeId(text: string): boolean {
  return prefixOf(text.toLowerCase()) !== null;
}
