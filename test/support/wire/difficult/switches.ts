/** Makes the servers of vendors misbehave. A test switches each misbehavior on and off. */
import type { Intercept, ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import type { Page } from '../paging.ts';
import type { VendorFixture } from '../vendor-server.ts';
import type { StoredRecord } from '../vendor-store.ts';
import { isObject, toQuery, type Values } from '../wire-format.ts';

export class Switches {
  /** Removes rows from pages after the page is selected. */
  isHidden: ((row: unknown) => boolean) | null = null;
  /** How the filter compares times. */
  comparison: { precisionMs?: number; zoneMs?: number } | null = null;
  /** The times by which lists are ordered and filtered in place of the records' own, by record ID. */
  readonly listTimes = new Map<string, Date>();
  cursors: { lifetimeMs: number; response: ServedResponse } | null = null;
  /** Responses to the next requests. */
  readonly refusals: ServedResponse[] = [];
  /** From this list response on, the server repeats it. The first one is number 1. */
  repeatsFrom: number | null = null;
  fieldsMax: number | null = null;
  urls: { bytes: number; response: ServedResponse } | null = null;
  depth: { records: number; response: ServedResponse } | null = null;
  /** Serves a request in place of the server. Null leaves it to the server. */
  override: (request: ServedRequest) => ServedResponse | null = () => null;
  /** The number of responses with records. */
  listResponses = 0;
  /** Runs before each request. */
  beforeRequest: () => void = () => {};
  /** Runs after each response with records. */
  afterList: () => void = () => {};
}

interface Server {
  switches: Switches;
  now: () => Date;
  /** True if the item of a response is a record. */
  isRow: (item: unknown) => boolean;
}

/** Tokens of cursors that the test servers create. Other positions are numbers or IDs of records. */
const CURSOR = /\bc_\d+|MSw\d+|01g\d+-\d+/g;

export function createIntercept({ switches, now, isRow }: Server): Intercept {
  const issueTimes = new Map<string, number>();
  let repeated: ServedResponse | null = null;

  const findRefusal = (request: ServedRequest): ServedResponse | undefined => {
    const { urls, cursors, depth, refusals } = switches;
    if (urls && measureUrl(request) > urls.bytes) return urls.response;
    if (depth && findOffset(request) >= depth.records) return depth.response;
    const isExpired = listCursors(describeRequest(request)).some(
      (cursor) => now().getTime() - (issueTimes.get(cursor) ?? 0) > (cursors?.lifetimeMs ?? 0),
    );
    return cursors && isExpired ? cursors.response : refusals.shift();
  };

  const distort = (request: ServedRequest, response: ServedResponse): ServedResponse => {
    const { isHidden, fieldsMax } = switches;
    let { body } = response;
    if (isHidden) body = mapItems(body, (item) => (isHidden(item) ? [] : [item]));
    if (fieldsMax !== null) {
      const fields = request.query.get('fields')?.split(',').slice(fieldsMax) ?? [];
      body = mapItems(body, (item) => (isRow(item) ? [omit(item as Values, fields)] : [item]));
    }
    return { ...response, body };
  };

  return async (request, serve) => {
    switches.beforeRequest();
    const refusal = findRefusal(request);
    if (refusal) return refusal;
    const response = switches.override(request) ?? (await serve(request));
    for (const cursor of listCursors(JSON.stringify([response.body, response.headers]))) {
      issueTimes.set(cursor, now().getTime());
    }
    if (!hasRow(response.body, isRow)) return response;
    switches.listResponses += 1;
    // Each read repeats a page of its own.
    if (switches.listResponses === 1) repeated = null;
    const { repeatsFrom } = switches;
    if (repeatsFrom !== null && switches.listResponses >= repeatsFrom) repeated ??= response;
    const distorted = distort(request, (repeatsFrom !== null && repeated) || response);
    switches.afterList();
    return distorted;
  };
}

function listCursors(text: string): string[] {
  return text.match(CURSOR) ?? [];
}

function describeRequest({ path, query, body }: ServedRequest): string {
  return JSON.stringify([path, [...query.values()], body]);
}

function measureUrl({ path, query }: ServedRequest): number {
  return `${path}?${query}`.length;
}

/** Returns the number of records before the requested page. 0 if the position is a cursor or an ID. */
function findOffset({ query, body }: ServedRequest): number {
  const parameters = new URLSearchParams([...toQuery(body), ...query]);
  const read = (...names: string[]) =>
    names.map((name) => Number(parameters.get(name) ?? Number.NaN)).find(Number.isFinite);
  const page = read('page');
  if (page !== undefined) return (page - 1) * (read('per_page', 'pageSize') ?? 1);
  const offset = read('offset', '_skip', 'sysparm_offset');
  // HubSpot's searches have an offset in `after`, and its lists have an ID.
  return offset ?? (Number(toQuery(body).get('after')) || 0);
}

function hasRow(value: unknown, isRow: (item: unknown) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => isRow(item) || hasRow(item, isRow));
  return isObject(value) && Object.values(value).some((member) => hasRow(member, isRow));
}

/** Replaces the items of every list. */
function mapItems(value: unknown, replace: (item: unknown) => unknown[]): unknown {
  if (Array.isArray(value)) return value.flatMap(replace).map((item) => mapItems(item, replace));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, mapItems(member, replace)]);
  return Object.fromEntries(entries);
}

function omit(row: Values, names: string[]): Values {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/**
 * Makes opaque cursors continue after the records of earlier pages, as vendors' cursors do, even if those records have
 * left the list or moved in it. Positions that are numbers are not changed.
 */
function keepPositions(page: Page): Page {
  const readRecords = new Map<string, StoredRecord[]>();
  return (records, request, baseUrl) => {
    const [cursor] = listCursors(describeRequest(request));
    const earlier = (cursor && readRecords.get(cursor)) || [];
    const earlierIds = new Set(earlier.map(({ id }) => id));
    const later = records.filter(({ id }) => !earlierIds.has(id));
    const slice = page([...earlier, ...later], request, baseUrl);
    const [next] = listCursors(slice.next ?? '');
    if (next) readRecords.set(next, [...earlier, ...slice.records]);
    return slice;
  };
}

/** Returns the fixture with lists that compare times as the switches say. */
export function distortTimes(fixture: VendorFixture, switches: Switches): VendorFixture {
  const { object } = fixture;
  const originals = new WeakMap<StoredRecord, StoredRecord>();
  const withTimes = (records: StoredRecord[], getTime: (record: StoredRecord) => number) =>
    records.map((record) => {
      const copy = { ...record, changedAt: new Date(getTime(record)) };
      originals.set(copy, originals.get(record) ?? record);
      return copy;
    });
  const getListTime = ({ id, changedAt }: StoredRecord) =>
    (switches.listTimes.get(String(id)) ?? changedAt).getTime();
  return {
    ...fixture,
    object: {
      ...object,
      toVendorRecord: (record) => object.toVendorRecord(originals.get(record) ?? record),
      lists: object.lists.map(({ filter, ...list }) => ({
        ...list,
        page: keepPositions(list.page),
        ...(filter && {
          filter: (records, request) => {
            const listed = withTimes(records, getListTime);
            const { precisionMs = 1, zoneMs = 0 } = switches.comparison ?? {};
            // A lower bound compares the start of the record's day, and an upper bound the end of it.
            const select = (round: (steps: number) => number) => {
              const rounded = withTimes(
                listed,
                ({ changedAt }) => round(changedAt.getTime() / precisionMs) * precisionMs + zoneMs,
              );
              return new Set(filter(rounded, request).map(({ id }) => id));
            };
            const [fromStart, toEnd] = [select(Math.floor), select(Math.ceil)];
            return listed.filter(({ id }) => fromStart.has(id) && toEnd.has(id));
          },
        }),
      })),
    },
  };
}
