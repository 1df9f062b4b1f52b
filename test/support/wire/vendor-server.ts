/**
 * A server that speaks a vendor's wire format, from a fixture written from the vendor's own documents.
 * It shares nothing with our declarations: one that is wrong fails against it.
 */
import {
  type ProviderServer,
  type ServedAnswer,
  type ServedRequest,
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
  /** The record as the vendor shows it. */
  show: (record: StoredRecord) => Record<string, unknown>;
  create?: WireChange;
  update?: WireChange;
  remove?: { method: string; path: string; status: number; body?: unknown };
  fields?: { path: string; body: unknown };
}

export interface WireChange {
  method: string;
  /** With `:id` where the id is. */
  path: string;
  status: number;
  /** The values that a body carries; throws BadRequest for a body of the wrong form. */
  valuesIn: (body: unknown) => Record<string, unknown>;
  /** Undefined for an answer without a body. */
  answer: (shown: Record<string, unknown>) => unknown;
}

export interface VendorFixture {
  idOf: (n: number) => string | number;
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
  const server = await startProviderServer((request) => {
    const missing = Object.entries(fixture.headers).find(
      ([name, value]) => request.headers[name.toLowerCase()] !== value,
    );
    if (missing) return refused(fixture, 401, `${missing[0]} is wrong`);
    try {
      return route({ fixture, store, url, now }, request);
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

function route(served: Served, request: ServedRequest): ServedAnswer {
  const { object } = served.fixture;
  const list = object.lists.find(
    ({ method = 'GET', path }) => method === request.method && path === request.path,
  );
  if (list) return listed(served, list, request);
  const { create, update, remove, fields } = object;
  if (fields && request.method === 'GET' && request.path === fields.path) {
    return { status: 200, body: fields.body };
  }
  if (create && idIn(create, request) !== null) return changed(served, create, request);
  const known = [update, remove].find((one) => one && idIn(one, request) !== null);
  const record = known && served.store.find(idIn(known, request) ?? '');
  if (!known || !record) return refused(served.fixture, 404, 'Not found');
  if (known === remove) {
    served.store.remove(record);
    return { status: known.status, ...(remove.body !== undefined && { body: remove.body }) };
  }
  return changed(served, known as WireChange, request, record);
}

function listed(
  { fixture, store, url }: Served,
  list: WireList,
  request: ServedRequest,
): ServedAnswer {
  const left = (list.filter ?? ((records) => records))([...store.records], request);
  const found = list.page(left.toSorted(ORDERS[list.order]), request, url);
  const body = list.answer(found.records.map(fixture.object.show), found);
  return { status: 200, headers: found.headers ?? {}, body };
}

const ORDERS: Record<WireList['order'], (a: StoredRecord, b: StoredRecord) => number> = {
  oldestChange: (a, b) => a.changedAt.getTime() - b.changedAt.getTime(),
  newestChange: (a, b) => b.changedAt.getTime() - a.changedAt.getTime(),
  made: () => 0,
};

function changed(
  { fixture, store, now }: Served,
  change: WireChange,
  request: ServedRequest,
  record?: StoredRecord,
): ServedAnswer {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith(fixture.contentType)) return refused(fixture, 415, `not ${type}`);
  const values = change.valuesIn(request.body);
  const problem = fixture.problemWith(values);
  if (problem !== null) return refused(fixture, fixture.invalidStatus, problem);
  const kept = record ?? store.create({}, now());
  Object.assign(kept.values, values);
  kept.changedAt = now();
  const body = change.answer(fixture.object.show(kept));
  return { status: change.status, ...(body !== undefined && { body }) };
}

/** The id in a request's path; '' where the path has none; null if it is another path. */
function idIn({ method, path }: { method: string; path: string }, request: ServedRequest) {
  if (method !== request.method) return null;
  const pattern = path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(':id', '([^/]+)');
  const found = new RegExp(`^${pattern}$`).exec(request.path);
  return found ? decodeURIComponent(found[1] ?? '') : null;
}

function refused({ refusal }: VendorFixture, status: number, message: string): ServedAnswer {
  return { status, body: refusal(status, message) };
}
