/**
 * A server that speaks a vendor's wire format, from a fixture that is written from the vendor's
 * documentation. It shares no code with the declarations, so that a wrong declaration fails against it.
 */
import {
  type Intercept,
  type ProviderServer,
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../providers/provider-server.ts';
import { BadRequest, type Page, type PageSlice } from './paging.ts';
import { type StoredRecord, VendorStore } from './vendor-store.ts';

export type WireOrder = 'oldestChange' | 'newestChange' | 'created';

/** One list of an object. An object may have several. */
interface WireList {
  method?: 'GET' | 'POST';
  path: string;
  /** The vendor's order of the records, or the order that a request demands. */
  order: WireOrder | ((request: ServedRequest) => WireOrder);
  /** Returns the records that match the request's filters. Throws BadRequest for a malformed filter. */
  filter?: (records: StoredRecord[], request: ServedRequest) => StoredRecord[];
  page: Page;
  toBody: (records: Record<string, unknown>[], slice: PageSlice, request: ServedRequest) => unknown;
}

interface WireObject {
  lists: WireList[];
  /** Responses that never change, such as a list of parents. */
  fixedResponses?: { path: string; body: unknown }[];
  /** Fetches a record by its path. */
  fetchOne?: {
    path: string;
    toBody: (record: Record<string, unknown>) => unknown;
  };
  /** Fetches several records by their IDs. `readIds` returns null if the request has no IDs. */
  fetchMany?: {
    path: string;
    readIds: (request: ServedRequest) => string[] | null;
    toBody: (records: Record<string, unknown>[], request: ServedRequest) => unknown;
  };
  /** Counts the records. */
  count?: { path: string; toBody: (count: number) => unknown };
  /** Endpoints that create or update several records. */
  batches?: WireBatch[];
  /** Returns the record in the vendor's format. */
  toVendorRecord: (record: StoredRecord) => Record<string, unknown>;
  create?: WireChange;
  update?: WireChange;
  remove?: Pick<WireChange, 'method' | 'path' | 'status'> & { body?: unknown };
  fields?: {
    path: string;
    query?: Record<string, string>;
    body: unknown;
    /** Returns the body of a page, if the list has pages. */
    toPageBody?: (query: URLSearchParams) => unknown;
  };
}

/** An endpoint whose body has several records, and whose response has an outcome for each, in order. */
interface WireBatch {
  method: string;
  path: string;
  status: number;
  readRecords: (body: unknown) => { id: string | null; values: Record<string, unknown> }[];
  /** Each outcome is the written record, or the error for it. */
  toBody: (outcomes: (Record<string, unknown> | { refused: string })[]) => unknown;
}

export interface WireChange {
  method: string;
  /** May contain `:name` for a parameter. `:id` is the record's ID. */
  path: string;
  /** Returns the error for a request that lacks a header or a parameter, or null. */
  findRequestError?: (request: ServedRequest) => string | null;
  status: number;
  /** Returns the values in a body. Throws BadRequest for a malformed body. */
  readValues: (body: unknown) => Record<string, unknown>;
  /** Returns the body of the response. Undefined sends none. */
  toBody: (record: Record<string, unknown>) => unknown;
}

export interface VendorFixture {
  createId: (n: number) => string | number;
  /** Returns the reference to a record if it is more than the ID. */
  createReference?: (id: string | number) => string;
  /** Runs before the endpoints. Returns undefined for a request that an endpoint should serve. */
  override?: (
    request: ServedRequest,
    store: VendorStore,
    now: Date,
    url: string,
  ) => ServedResponse | undefined | Promise<ServedResponse | undefined>;
  /** Headers that every request must have. */
  headers: Record<string, string>;
  /** The content type that bodies must have. Default: JSON. */
  contentType?: string;
  /** Returns an error in the vendor's format. */
  toErrorBody: (status: number, message: string) => unknown;
  /** The status of the response to an invalid record. Default: 400. */
  invalidStatus?: number;
  /** Returns the vendor's error for a record's values, or null if they are valid. */
  findValueError: (values: Record<string, unknown>) => string | null;
  object: WireObject;
}

export interface VendorServer extends ProviderServer {
  store: VendorStore;
  fixture: VendorFixture;
}

export async function startVendorServer(
  fixture: VendorFixture,
  now: () => Date = () => new Date(),
  intercept?: Intercept,
): Promise<VendorServer> {
  const store = new VendorStore(fixture.createId);
  let url = '';
  const server = await startProviderServer(async (request) => {
    const wrongHeader = Object.entries(fixture.headers).find(
      ([name, value]) => request.headers[name.toLowerCase()] !== value,
    );
    if (wrongHeader) return createErrorResponse(fixture, 401, `${wrongHeader[0]} is wrong`);
    try {
      return await route({ fixture, store, url, now }, request);
    } catch (error) {
      if (error instanceof BadRequest) return createErrorResponse(fixture, 400, error.message);
      throw error;
    }
  }, intercept);
  url = server.url;
  const reset = () => {
    server.reset();
    store.clear();
  };
  return { ...server, store, fixture, reset };
}

interface ServerState {
  fixture: VendorFixture;
  store: VendorStore;
  url: string;
  now: () => Date;
}

async function route(state: ServerState, request: ServedRequest): Promise<ServedResponse> {
  const { fixture, store, now, url } = state;
  const { object } = fixture;
  const override = await fixture.override?.(request, store, now(), url);
  if (override) return override;
  const manyResponse = serveMany(state, request);
  if (manyResponse) return manyResponse;
  const list = object.lists.find(
    ({ method = 'GET', path }) => method === request.method && matchPath(path, request),
  );
  if (list) return serveList(state, list, request);
  if (object.count && isAt({ method: 'GET', path: object.count.path }, request)) {
    return { status: 200, body: object.count.toBody(store.records.length) };
  }
  const fixed = object.fixedResponses?.find(({ path }) => path === request.path);
  if (fixed && request.method === 'GET') return { status: 200, body: fixed.body };
  const batch = object.batches?.find((candidate) => isAt(candidate, request));
  if (batch) return serveBatch(state, batch, request);
  return routeChange(state, request);
}

function routeChange(state: ServerState, request: ServedRequest): ServedResponse {
  const { fixture, store } = state;
  const { create, update, remove, fields, fetchOne } = fixture.object;
  if (fields && request.method === 'GET' && request.path === fields.path) {
    const wrongParameter = Object.entries(fields.query ?? {}).find(
      ([name, value]) => request.query.get(name) !== value,
    );
    if (wrongParameter)
      return createErrorResponse(fixture, 400, `INVALID_MODULE: ${wrongParameter[0]}`);
    return { status: 200, body: fields.toPageBody?.(request.query) ?? fields.body };
  }
  if (fetchOne && isAt({ method: 'GET', path: fetchOne.path }, request)) {
    return serveOne(state, fetchOne, request);
  }
  if (create && isAt(create, request)) return serveWrite(state, create, { request });
  const change = [update, remove].find((candidate) => candidate && isAt(candidate, request));
  if (!change) return createErrorResponse(fixture, 404, 'Not found');
  const parameters = matchPath(change.path, request) ?? {};
  const record = store.records.find(({ id }) => String(id) === parameters.id);
  if (!record) return createErrorResponse(fixture, 404, 'Not found');
  if (change !== remove) return serveWrite(state, change as WireChange, { request, record });
  store.remove(record);
  return { status: change.status, ...(remove.body !== undefined && { body: remove.body }) };
}

function serveOne(
  { fixture, store }: ServerState,
  endpoint: NonNullable<WireObject['fetchOne']>,
  request: ServedRequest,
): ServedResponse {
  const parameters = matchPath(endpoint.path, request) ?? {};
  const record = store.records.find(({ id }) => String(id) === parameters.id);
  if (!record) return createErrorResponse(fixture, 404, 'Not found');
  return { status: 200, body: endpoint.toBody(fixture.object.toVendorRecord(record)) };
}

/** Returns the records that exist, and omits unknown IDs. */
function serveMany(
  { fixture, store }: ServerState,
  request: ServedRequest,
): ServedResponse | undefined {
  const { fetchMany, toVendorRecord } = fixture.object;
  if (!fetchMany || !isAt({ method: 'GET', path: fetchMany.path }, request)) return undefined;
  const ids = fetchMany.readIds(request);
  if (ids === null) return undefined;
  const records = store.records.filter(({ id }) => ids.includes(String(id)));
  const body = fetchMany.toBody(records.map(toVendorRecord), request);
  return body === undefined ? { status: 204 } : { status: 200, body };
}

const ORDERS: Record<WireOrder, (a: StoredRecord, b: StoredRecord) => number> = {
  oldestChange: (a, b) => a.changedAt.getTime() - b.changedAt.getTime(),
  newestChange: (a, b) => b.changedAt.getTime() - a.changedAt.getTime(),
  created: () => 0,
};

function serveList(
  { fixture, store, url }: ServerState,
  list: WireList,
  request: ServedRequest,
): ServedResponse {
  const filtered = (list.filter ?? ((records) => records))([...store.records], request);
  const order = typeof list.order === 'function' ? list.order(request) : list.order;
  const slice = list.page(filtered.toSorted(ORDERS[order]), request, url);
  const body = list.toBody(slice.records.map(fixture.object.toVendorRecord), slice, request);
  const headers = slice.headers ?? {};
  return body === undefined ? { status: 204, headers } : { status: 200, headers, body };
}

function serveWrite(
  { fixture, store, now }: ServerState,
  change: WireChange,
  { request, record }: { request: ServedRequest; record?: StoredRecord },
): ServedResponse {
  const { contentType = 'application/json', invalidStatus = 400 } = fixture;
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith(contentType)) return createErrorResponse(fixture, 415, `not ${type}`);
  const values = { ...change.readValues(request.body) };
  const error = change.findRequestError?.(request) ?? fixture.findValueError(values);
  if (error !== null) return createErrorResponse(fixture, invalidStatus, error);
  const storedRecord = record ?? store.create({}, now());
  Object.assign(storedRecord.values, values);
  storedRecord.changedAt = now();
  const body = change.toBody(fixture.object.toVendorRecord(storedRecord));
  return { status: change.status, ...(body !== undefined && { body }) };
}

function serveBatch(
  { fixture, store, now }: ServerState,
  batch: WireBatch,
  request: ServedRequest,
): ServedResponse {
  const outcomes = batch.readRecords(request.body).map(({ id, values }) => {
    const record = id === null ? null : store.find(id);
    const error = record === undefined ? 'No such record' : fixture.findValueError(values);
    if (error !== null) return { refused: error };
    const storedRecord = record ?? store.create({}, now());
    Object.assign(storedRecord.values, values);
    storedRecord.changedAt = now();
    return fixture.object.toVendorRecord(storedRecord);
  });
  return { status: batch.status, body: batch.toBody(outcomes) };
}

function isAt({ method, path }: { method: string; path: string }, request: ServedRequest): boolean {
  return method === request.method && matchPath(path, request) !== null;
}

/** Returns the parameters of a request's path, or null if it is another path. */
function matchPath(path: string, request: ServedRequest): Record<string, string> | null {
  const pattern = path
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/()]+)');
  const match = new RegExp(`^${pattern}$`).exec(request.path);
  if (!match) return null;
  const parameters = Object.entries(match.groups ?? {});
  return Object.fromEntries(parameters.map(([name, value]) => [name, decodeURIComponent(value)]));
}

function createErrorResponse(
  { toErrorBody }: VendorFixture,
  status: number,
  message: string,
): ServedResponse {
  return { status, body: toErrorBody(status, message) };
}
