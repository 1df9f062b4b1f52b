/** Switches a misbehavior on, in one of its variants. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/work/durations.ts';
import type { ServedResponse } from '../../providers/provider-server.ts';
import { isObject, type Values } from '../wire-format.ts';
import type { Ledger } from './ledger.ts';
import type { Misbehavior, Misbehaviors } from './misbehaviors.ts';
import type { MovedClock } from './moved-clock.ts';
import { PARENT_LISTS, serveParents } from './parents.ts';
import type { DifficultAccount, DifficultVendor } from './vendors.ts';

export interface Combination {
  vendor: DifficultVendor;
  misbehavior: Misbehavior;
  detail: Misbehaviors[Misbehavior];
}

/** Returns the members of the table's detail. Empty if the table says only that the vendor can misbehave. */
export function listDetails({ detail }: Pick<Combination, 'detail'>): Values {
  return isObject(detail) ? detail : {};
}

/** Records of vendors whose delay is unknown appear within this time. Later ones may be missed. */
const UNKNOWN_DELAY_MS = 10 * MINUTE_MS;

/** Returns how much later than its time of change a record appears at most. */
export function getDelayMs(combination: Combination): number {
  if (combination.misbehavior !== 'lateRecords') return 0;
  return Number(listDetails(combination).upToMs ?? UNKNOWN_DELAY_MS);
}

/** Many servers refuse longer URLs. */
const UNKNOWN_URL_BYTES = 8_192;
const FIELDS_ABOVE_LIMIT = 60;
const FIELD_NAME_LENGTH = 60;

/** Returns values of fields for a request that is too long, or names too many fields. */
export function createExtraValues(combination: Combination): Values {
  const { bytes = UNKNOWN_URL_BYTES } = listDetails(combination);
  const createValues = (count: number, length: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`field_${n}_`.padEnd(length, 'x'), `value ${n}`]),
    );
  if (combination.misbehavior === 'fieldLimit') return createValues(FIELDS_ABOVE_LIMIT, 0);
  if (combination.misbehavior !== 'longUrl') return {};
  return createValues(Math.ceil((1.2 * Number(bytes)) / FIELD_NAME_LENGTH), FIELD_NAME_LENGTH);
}

/** Forms of Retry-After. The numbers are fractions of seconds, and seconds and milliseconds since 1970. */
const RETRY_AFTER = [
  'Wed, 21 Oct 2026 07:28:00 GMT',
  '1.5',
  '2026-10-21T07:28:00Z',
  '1792567680',
  '1792567680000',
  'soon',
];

/** A page below this number of records is refused. Scaled down, because a read need not get so far. */
const DEPTH = 6;
const UNKNOWN_LIFETIME_MS = HOUR_MS;

interface Scene extends Combination {
  account: DifficultAccount;
  ledger: Ledger;
  clock: MovedClock;
}

/** Returns the IDs of hidden records. */
export function misbehave(scene: Scene, variant: number): ReadonlySet<string> {
  const { misbehavior, detail, account, ledger, clock } = scene;
  const { switches } = account;
  const details = listDetails(scene);
  const refuse = (status: number, message: string): ServedResponse => ({
    status,
    body: account.createError(status, message),
  });
  switch (misbehavior) {
    case 'hiddenRecords': {
      // Never all records of a page, because no sign distinguishes such a page from the last one.
      const hidden = new Set(ledger.ids.filter((_, index) => index % 3 === variant % 3));
      account.hide(hidden);
      return hidden;
    }
    case 'coarseFilter': {
      const zoneMs = Number(details.zoneMs ?? 0) * (variant % 2 === 0 ? 1 : -1);
      const precisionMs = detail === 'unknown' ? DAY_MS : Number(details.precisionMs ?? 1);
      switches.comparison = { precisionMs, zoneMs };
      break;
    }
    case 'repeatedCursor':
      switches.repeatsFrom = 1 + (variant % 2);
      break;
    case 'expiredCursor': {
      const lifetimeMs = expireCursors(scene);
      const expireAt = 1 + (variant % 2);
      switches.afterList = () => {
        if (switches.listResponses === expireAt) clock.advance(lifetimeMs + SECOND_MS);
      };
      break;
    }
    case 'expiredParents': {
      const lifetimeMs = expireCursors(scene);
      const parents = PARENT_LISTS[scene.vendor.vendorName];
      if (!parents) throw new Error(`${scene.vendor.vendorName} has no list of parents.`);
      switches.override = (request) =>
        serveParents(parents, request, () => clock.advance(lifetimeMs + SECOND_MS));
      break;
    }
    case 'bodyRateLimit': {
      const limit = 'status' in details ? details : refuse(403, 'API rate limit exceeded');
      switches.refusals.push(limit as ServedResponse, limit as ServedResponse);
      break;
    }
    case 'oddRetryAfter': {
      const headers = { 'retry-after': RETRY_AFTER[variant % RETRY_AFTER.length] ?? '' };
      switches.refusals.push({ ...refuse(429, 'Too many requests'), headers });
      break;
    }
    case 'fieldLimit':
      switches.fieldsMax = Number(details.max);
      break;
    case 'longUrl':
      switches.urls = {
        bytes: Number(details.bytes ?? UNKNOWN_URL_BYTES),
        response: refuse(414, 'URI too long'),
      };
      break;
    case 'depthLimit':
      switches.depth = { records: DEPTH, response: refuse(400, 'The offset is too large') };
      break;
    case 'changesDuringRead':
      switches.afterList = () => {
        const { ids } = ledger;
        const id = ids[(switches.listResponses * 5 + variant) % ids.length];
        if (switches.listResponses <= 4 && id) ledger.change(id, clock.now());
      };
      break;
  }
  return new Set();
}

/** Makes cursors expire, and returns their lifetime. */
function expireCursors({ vendor, account }: Scene): number {
  const { lifetimeMs = UNKNOWN_LIFETIME_MS, response } = listDetails({
    detail: vendor.misbehaviors.expiredCursor,
  });
  const message = 'The cursor is invalid or has expired';
  const unknownResponse = { status: 400, body: account.createError(400, message) };
  account.switches.cursors = {
    lifetimeMs: Number(lifetimeMs),
    response: (response as ServedResponse | undefined) ?? unknownResponse,
  };
  return Number(lifetimeMs);
}
