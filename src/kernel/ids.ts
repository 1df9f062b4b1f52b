/** Ids of rows are TypeIDs: a prefix for the type and a UUIDv7. They are globally unique and sorted by time. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { typeidUnboxed } from 'typeid-js';
import { z } from 'zod';

/** The id prefixes, and the table of each. */
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
  cpr: 'CustomProvider',
  grp: 'Group',
  csm: 'Consumer',
  con: 'Connection',
  int: 'Integration',
  rev: 'Revision',
  pln: 'Plan',
  ins: 'Installation',
  cfg: 'InstallationConfig',
  ags: 'AgentSession',
  prp: 'Proposal',
  opr: 'Operation',
  log: 'OperationLog',
  req: 'RecordedRequest',
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

/** The age of new ids in milliseconds: their times are this long before the present. */
const idAges = new AsyncLocalStorage<number>();

export function newId(prefix: IdPrefix): string {
  const id = typeidUnboxed(prefix);
  const ageMs = idAges.getStore();
  return ageMs === undefined ? id : getFirstIdAt(prefix, getIdTimeMs(id) - ageMs) + getSuffix(id);
}

/** Returns a new id with another time than the present. */
export function newIdAt(prefix: IdPrefix, timeMs: number): string {
  return getFirstIdAt(prefix, timeMs) + getSuffix(typeidUnboxed(prefix));
}

/**
 * Runs `work` with new ids that are `ageMs` old. The caller must then set the creation times of the new rows to the times
 * in their ids.
 */
export function withAgedIds<T>(ageMs: number, work: () => T): T {
  return idAges.run(ageMs, work);
}

/** The digits of a UUIDv7 in base 32 (typeid.io). The first 50 bits hold the time; two of them are unused. */
export const ID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

export const TIME_DIGITS = 10;

const TIME_MS_MAX = 2 ** 48 - 1;

/** Returns a string that sorts after all ids of earlier times, and before all ids of `timeMs` or later. */
export function getFirstIdAt(prefix: IdPrefix, timeMs: number): string {
  const time = Math.min(Math.max(0, Math.floor(timeMs)), TIME_MS_MAX);
  const digits = Array.from({ length: TIME_DIGITS }, (_, index) => {
    const shifted = Math.floor(time / 32 ** (TIME_DIGITS - 1 - index));
    return ID_DIGITS[shifted % 32];
  });
  return `${prefix}_${digits.join('')}`;
}

/** Returns the time in an id. */
export function getIdTimeMs(id: string): number {
  const digits = id.split('_')[1]?.slice(0, TIME_DIGITS) ?? '';
  return [...digits].reduce((time, digit) => time * 32 + ID_DIGITS.indexOf(digit), 0);
}

/** Returns the part of an id after its time. */
function getSuffix(id: string): string {
  return id.slice(id.indexOf('_') + 1 + TIME_DIGITS);
}

/** A prefix and 26 digits of 5 bits. The first digit is at most 7, because a UUID has 128 bits. */
const TYPEID = /^([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Returns the prefix of a well-formed id. Null if the string is not one. */
export function findPrefix(id: string): IdPrefix | null {
  const [, prefix = ''] = TYPEID.exec(id) ?? [];
  return Object.hasOwn(ID_PREFIXES, prefix) ? (prefix as IdPrefix) : null;
}

const PROVIDER_ID_PREFIX = 'prv_';

/**
 * Returns a provider's id. It is derived from the name, and is equal on every server. Several projects may have a custom
 * provider with the same name, so its id contains the project's.
 */
export function createProviderId(name: string, projectId?: string): string {
  return PROVIDER_ID_PREFIX + (projectId === undefined ? name : `${projectId}_${name}`);
}

const CUSTOM_PROVIDER_ID = /^prv_(prj_[0-9a-z]{26})_(.+)$/;

/** Returns the name of the provider in a provider id, and its project if it is custom. Null for other ids. */
export function findProviderReference(
  id: string,
): { name: string; projectIdOrName?: string | undefined } | null {
  if (!id.startsWith(PROVIDER_ID_PREFIX)) return null;
  const [, projectIdOrName, name = id.slice(PROVIDER_ID_PREFIX.length)] =
    CUSTOM_PROVIDER_ID.exec(id) ?? [];
  return { name, projectIdOrName };
}

/** An id in an input. Its prefix is not checked, because an id with a wrong prefix finds no row. */
export const id = z.string().min(1).max(64).meta({ graphql: 'ID' });

/** Returns whether the text has the form of an id. Names must not have it, so that "id or name" is never ambiguous. */
export function hasIdForm(text: string): boolean {
  return findPrefix(text.toLowerCase()) !== null;
}
