/**
 * A server that speaks a vendor's wire format, from a fixture written from the vendor's own documents.
 * It shares nothing with our declarations: one that is wrong fails against it.
 */
import {
  type ProviderServer,
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../providers/provider-server.ts';
import { BadRequest, type Cut, type Page } from './paging.ts';
import { type StoredRecord, VendorStore } from './vendor-store.ts';

/** One list of an object. A vendor may have several. */
export interface WireList {
  method?: 'GET' | 'POST';
  path: string;
  /** In which order the vendor gives them. */
  order: 'oldestChange' | 'newestChange' | 'made';
  /** What the request's filters leave. Throws BadRequest for a filter of the wrong form. */
  filter?: (records: StoredRecord[], request: ServedRequest) => StoredRecord[];
  page: Page;
  answer: (shown: Record<string, unknown>[], cut: Cut) => unknown;
}

export interface WireObject {
  lists: WireList[];
  /** Answers that are always the same: a list of parents, say. */
  fixed?: { path: string; body: unknown }[];
  /** A record by its address. */
  one?: {
    path: string;
    finds?: WireChange['finds'];
    objection?: WireChange['objection'];
    answer: (shown: Record<string, unknown>) => unknown;
  };
  /** Many by their ids; `idsIn` gives null for a request that names none. */
  many?: {
    path: string;
    idsIn: (request: ServedRequest) => string[] | null;
    answer: (shown: Record<string, unknown>[]) => unknown;
  };
  /** How many records there are, at an address of its own. */
  count?: { path: string; answer: (count: number) => unknown };
  /** Another way to make or change many. */
  batches?: WireBatch[];
  /** The record as the vendor shows it. */
  show: (record: StoredRecord) => Record<string, unknown>;
  create?: WireChange;
  update?: WireChange;
  remove?: Pick<WireChange, 'method' | 'path' | 'finds' | 'objection' | 'status'> & {
    body?: unknown;
  };
  fields?: { path: string; query?: Record<string, string>; body: unknown };
}

/** Many records in a body; what the answer says of each, in order. */
export interface WireBatch {
  method: string;
  path: string;
  status: number;
  recordsIn: (body: unknown) => { id: string | null; values: Record<string, unknown> }[];
  /** A record that was taken, or why it was not. */
  answer: (outcomes: (Record<string, unknown> | { refused: string })[]) => unknown;
  /** Whether one refusal refuses all. */
  isAllOrNone: (request: ServedRequest) => boolean;
}

export interface WireChange {
  method: string;
  /** With `:name` where a part of the address is; `:id` is the record's id. */
  path: string;
  /** Which one the address means, if not by `:id`. */
  finds?: (record: StoredRecord, named: Record<string, string>) => boolean;
  /** What a request must have, or why it is refused: a header, a part of the query. */
  objection?: (request: ServedRequest) => string | null;
  status: number;
  /** The values that a body carries; throws BadRequest for a body of the wrong form. */
  valuesIn: (body: unknown) => Record<string, unknown>;
  /** Undefined for an answer without a body. */
  answer: (shown: Record<string, unknown>) => unknown;
}

export interface VendorFixture {
  idOf: (n: number) => string | number;
  /** How a record is referred to, if not by its id alone. */
  refOf?: (id: string | number) => string;
  /** Answers what the parts below don't; undefined for what it knows nothing of. */
  other?: (
    request: ServedRequest,
    store: VendorStore,
    now: Date,
    url: string,
  ) => ServedResponse | undefined | Promise<ServedResponse | undefined>;
  /** Headers that a request must have. */
  headers: Record<string, string>;
  /** How bodies must be sent. */
  contentType: string;
  /** An error in the vendor's words. */
  refusal: (status: number, message: string) => unknown;
  /** The status of a refused record. */
  invalidStatus: number;
  /** Why the vendor refuses a record's values, or null. */
  problemWith: (values: Record<string, unknown>) => string | null;
  object: WireObject;
}

export interface VendorServer extends ProviderServer {
  store: VendorStore;
  fixture: VendorFixture;
}

export async function vendorServer(
  fixture: VendorFixture,
  now: () => Date = () => new Date(),
): Promise<VendorServer> {
  const store = new VendorStore(fixture.idOf);
  let url = '';
  const server = await startProviderServer(async (request) => {
    const missing = Object.entries(fixture.headers).find(
      ([name, value]) => request.headers[name.toLowerCase()] !== value,
    );
    if (missing) return refused(fixture, 401, `${missing[0]} is wrong`);
    try {
      return await route({ fixture, store, url, now }, request);
    } catch (error) {
      if (error instanceof BadRequest) return refused(fixture, 400, error.message);
      throw error;
    }
  });
  url = server.url;
  return { ...server, store, fixture };
}

interface Served {
  fixture: VendorFixture;
  store: VendorStore;
  url: string;
  now: () => Date;
}

async function route(served: Served, request: ServedRequest): Promise<ServedResponse> {
  const { fixture, store, now, url } = served;
  const { object } = fixture;
  const other = await fixture.other?.(request, store, now(), url);
  if (other) return other;
  const many = namedMany(served, request);
  if (many) return many;
  const list = object.lists.find(
    ({ method = 'GET', path }) => method === request.method && namedIn(path, request),
  );
  if (list) return listed(served, list, request);
  if (object.count && isAt({ method: 'GET', path: object.count.path }, request)) {
    return { status: 200, body: object.count.answer(store.records.length) };
  }
  const fixed = object.fixed?.find(({ path }) => path === request.path);
  if (fixed && request.method === 'GET') return { status: 200, body: fixed.body };
  const batch = object.batches?.find((one) => isAt(one, request));
  if (batch) return changedMany(served, batch, request);
  return routeChange(served, request);
}

function routeChange(served: Served, request: ServedRequest): ServedResponse {
  const { fixture, store } = served;
  const { create, update, remove, fields, one } = fixture.object;
  if (fields && request.method === 'GET' && request.path === fields.path) {
    const wrong = Object.entries(fields.query ?? {}).find(
      ([name, value]) => request.query.get(name) !== value,
    );
    if (wrong) return refused(fixture, 400, `INVALID_MODULE: ${wrong[0]}`);
    return { status: 200, body: fields.body };
  }
  if (one && isAt({ method: 'GET', path: one.path }, request)) {
    return shownOne(served, one, request);
  }
  if (create && isAt(create, request)) return changed(served, create, { request });
  const known = [update, remove].find((one) => one && isAt(one, request));
  if (!known) return refused(fixture, 404, 'Not found');
  const named = namedIn(known.path, request) ?? {};
  const finds = known.finds ?? (({ id }: StoredRecord) => String(id) === named.id);
  const record = store.records.find((one) => finds(one, named));
  const objection = known.objection?.(request);
  if (objection) return refused(fixture, 400, objection);
  if (!record) return refused(fixture, 404, 'Not found');
  if (known !== remove) return changed(served, known as WireChange, { request, record });
  store.remove(record);
  return { status: known.status, ...(remove.body !== undefined && { body: remove.body }) };
}

function shownOne(
  { fixture, store }: Served,
  one: NonNullable<WireObject['one']>,
  request: ServedRequest,
): ServedResponse {
  const named = namedIn(one.path, request) ?? {};
  const finds = one.finds ?? (({ id }: StoredRecord) => String(id) === named.id);
  const objection = one.objection?.(request);
  if (objection) return refused(fixture, 400, objection);
  const record = store.records.find((each) => finds(each, named));
  if (!record) return refused(fixture, 404, 'Not found');
  return { status: 200, body: one.answer(fixture.object.show(record)) };
}

/** Those that are known, and nothing of the others. */
function namedMany({ fixture, store }: Served, request: ServedRequest): ServedResponse | undefined {
  const { many, show } = fixture.object;
  if (!many || !isAt({ method: 'GET', path: many.path }, request)) return undefined;
  const ids = many.idsIn(request);
  if (ids === null) return undefined;
  const records = store.records.filter(({ id }) => ids.includes(String(id)));
  const body = many.answer(records.map(show));
  return body === undefined ? { status: 204 } : { status: 200, body };
}

function listed(
  { fixture, store, url }: Served,
  list: WireList,
  request: ServedRequest,
): ServedResponse {
  const left = (list.filter ?? ((records) => records))([...store.records], request);
  const found = list.page(left.toSorted(ORDERS[list.order]), request, url);
  const body = list.answer(found.records.map(fixture.object.show), found);
  const headers = found.headers ?? {};
  return body === undefined ? { status: 204, headers } : { status: 200, headers, body };
}

const ORDERS: Record<WireList['order'], (a: StoredRecord, b: StoredRecord) => number> = {
  oldestChange: (a, b) => a.changedAt.getTime() - b.changedAt.getTime(),
  newestChange: (a, b) => b.changedAt.getTime() - a.changedAt.getTime(),
  made: () => 0,
};

function changed(
  { fixture, store, now }: Served,
  change: WireChange,
  { request, record }: { request: ServedRequest; record?: StoredRecord },
): ServedResponse {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith(fixture.contentType)) return refused(fixture, 415, `not ${type}`);
  const values = { ...change.valuesIn(request.body) };
  const problem = change.objection?.(request) ?? fixture.problemWith(values);
  if (problem !== null) return refused(fixture, fixture.invalidStatus, problem);
  const kept = record ?? store.create({}, now());
  Object.assign(kept.values, values);
  kept.changedAt = now();
  const body = change.answer(fixture.object.show(kept));
  return { status: change.status, ...(body !== undefined && { body }) };
}

function changedMany(
  { fixture, store, now }: Served,
  batch: WireBatch,
  request: ServedRequest,
): ServedResponse {
  const tasks = batch.recordsIn(request.body).map(({ id, values }) => {
    const record = id === null ? null : store.find(id);
    const problem = record === undefined ? 'No such record' : fixture.problemWith(values);
    return { record, values, problem };
  });
  const first = tasks.find(({ problem }) => problem !== null)?.problem;
  if (first && batch.isAllOrNone(request)) return refused(fixture, fixture.invalidStatus, first);
  const outcomes = tasks.map(({ record, values, problem }) => {
    if (problem !== null) return { refused: problem };
    const kept = record ?? store.create({}, now());
    Object.assign(kept.values, values);
    kept.changedAt = now();
    return fixture.object.show(kept);
  });
  return { status: batch.status, body: batch.answer(outcomes) };
}

function isAt({ method, path }: { method: string; path: string }, request: ServedRequest): boolean {
  return method === request.method && namedIn(path, request) !== null;
}

/** The named parts of a request's path; null if it is another path. */
function namedIn(path: string, request: ServedRequest): Record<string, string> | null {
  const pattern = path
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/()]+)');
  const found = new RegExp(`^${pattern}$`).exec(request.path);
  if (!found) return null;
  const named = Object.entries(found.groups ?? {});
  return Object.fromEntries(named.map(([name, value]) => [name, decodeURIComponent(value)]));
}

function refused({ refusal }: VendorFixture, status: number, message: string): ServedResponse {
  return { status, body: refusal(status, message) };
}
