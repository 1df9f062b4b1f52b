/** A server that speaks the part of Salesforce's REST API that the connector uses. */
import { z } from 'zod';
import {
  type Intercept,
  type ProviderServer,
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from './provider-server.ts';
import { writeCollection } from './salesforce-collection.ts';
import { ORGANIZATION_ID, SalesforceMetadata } from './salesforce-metadata.ts';
import { createSalesforceObjects } from './salesforce-objects.ts';
import { SalesforceQueries } from './salesforce-query.ts';
import { SalesforceRefusal, SalesforceStore, type WriteOptions } from './salesforce-store.ts';
import { SalesforceChannels } from './salesforce-tooling.ts';

export interface SalesforceServer extends ProviderServer {
  store: SalesforceStore;
  queries: SalesforceQueries;
  metadata: SalesforceMetadata;
  channels: SalesforceChannels;
  organizationId: string;
  /** The only valid token. A refresh returns it. */
  getToken(): string;
  /** Replaces the token. Earlier tokens are no longer valid. */
  replaceToken(token: string): void;
}

/**
 * Starts the server. As Salesforce does, Node.js refuses more than 16 KiB of URI and headers with 431, and does not pass
 * on such a request.
 */
export async function startSalesforceServer(
  options: { token?: string; now?: () => Date; intercept?: Intercept } = {},
): Promise<SalesforceServer> {
  const { now = () => new Date() } = options;
  let token = options.token ?? 'salesforce-token';
  const store = new SalesforceStore(createSalesforceObjects(), now);
  const queries = new SalesforceQueries(store);
  const metadata = new SalesforceMetadata(store);
  const channels = new SalesforceChannels((entity) =>
    store.objects.some(({ name }) => `${name}ChangeEvent` === entity),
  );
  const server = await startProviderServer((request) => {
    if (request.path === '/services/oauth2/token') {
      return { status: 200, body: { access_token: token, token_type: 'Bearer' } };
    }
    if (request.headers.authorization !== `Bearer ${token}`) return createSalesforceFailure(401);
    try {
      return route({ store, queries, metadata, channels }, request);
    } catch (refusal) {
      if (refusal instanceof SalesforceRefusal) return refusal.response;
      return new SalesforceRefusal(400, 'JSON_PARSER_ERROR', String(refusal)).response;
    }
  }, options.intercept);
  return {
    ...server,
    store,
    queries,
    metadata,
    channels,
    organizationId: ORGANIZATION_ID,
    getToken: () => token,
    replaceToken: (replacement) => {
      token = replacement;
    },
  };
}

const FAILURES_BY_STATUS: Record<number, [errorCode: string, message: string]> = {
  401: ['INVALID_SESSION_ID', 'Session expired or invalid'],
  403: ['INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object'],
  429: ['REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.'],
};

/** Returns a failure of the whole request in Salesforce's format. */
export function createSalesforceFailure(
  status: number,
  headers: Record<string, string> = {},
): ServedResponse {
  const [errorCode, message] = FAILURES_BY_STATUS[status] ?? [
    'UNKNOWN_EXCEPTION',
    'An unexpected error',
  ];
  return { status, headers, body: [{ message, errorCode }] };
}

interface Org {
  store: SalesforceStore;
  queries: SalesforceQueries;
  metadata: SalesforceMetadata;
  channels: SalesforceChannels;
}
type Route = (org: Org, request: ServedRequest, names: string[]) => ServedResponse;

const API_PATH = '^/services/data/v60.0';

const ROUTES: [method: string, path: RegExp, route: Route][] = [
  ['GET', /^\/services\/oauth2\/userinfo$/, ({ metadata }) => metadata.getUserInfo()],
  [
    'POST',
    new RegExp(`${API_PATH}/tooling/sobjects/CustomField$`),
    ({ metadata }, { body }) => metadata.createField(body),
  ],
  [
    'PATCH',
    new RegExp(`${API_PATH}/tooling/sobjects/CustomField/([^/]+)$`),
    ({ metadata }, { body }, [id = '']) => metadata.updateField(id, body),
  ],
  [
    'GET',
    new RegExp(`${API_PATH}/sobjects/(\\w+)/describe$`),
    ({ store }, _, [name = '']) => describeObject(store, name),
  ],
  ['GET', new RegExp(`${API_PATH}/query$`), startQuery],
  ['GET', new RegExp(`${API_PATH}/query/([^/]+)$`), continueQuery],
  ['POST', new RegExp(`${API_PATH}/composite$`), runComposite],
  ['POST', new RegExp(`${API_PATH}/composite/sobjects$`), writeRecords],
  ['PATCH', new RegExp(`${API_PATH}/composite/sobjects$`), writeRecords],
  ['GET', new RegExp(`${API_PATH}/sobjects/([^/]+)/deleted$`), listDeleted],
  ['GET', new RegExp(`${API_PATH}/tooling/query$`), queryTooling],
  ['POST', new RegExp(`${API_PATH}/tooling/sobjects/([^/]+)$`), createTooling],
  ['GET', new RegExp(`${API_PATH}/tooling/sobjects/([^/]+)/([^/]+)$`), getTooling],
  ['DELETE', new RegExp(`${API_PATH}/tooling/sobjects/([^/]+)/([^/]+)$`), deleteTooling],
  ['POST', new RegExp(`${API_PATH}/sobjects/([^/]+)$`), createRecord],
  ['POST', new RegExp(`${API_PATH}/sobjects/([^/]+)/([^/]+)$`), updateRecord],
  ['GET', new RegExp(`${API_PATH}/sobjects/([^/]+)/([^/]+)$`), getRecord],
  ['DELETE', new RegExp(`${API_PATH}/sobjects/([^/]+)/([^/]+)$`), deleteRecord],
];

function route(org: Org, request: ServedRequest): ServedResponse {
  for (const [method, path, handle] of ROUTES) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match) return handle(org, request, match.slice(1));
  }
  throw new SalesforceRefusal(404, 'NOT_FOUND', 'The requested resource does not exist');
}

const OPTIONS_HEADER = 'sforce-query-options';

function startQuery({ queries, metadata }: Org, { query, headers }: ServedRequest): ServedResponse {
  const permissions = metadata.findPermissions(query.get('q') ?? '');
  if (permissions) return permissions;
  return queries.start(query.get('q') ?? '', headers[OPTIONS_HEADER]);
}

function continueQuery(
  { queries }: Org,
  { headers }: ServedRequest,
  [locator = '']: string[],
): ServedResponse {
  return queries.continue(locator, headers[OPTIONS_HEADER]);
}

const compositeBody = z.strictObject({
  allOrNone: z.literal(false),
  compositeRequest: z.array(
    z.strictObject({
      method: z.literal('GET'),
      url: z.string(),
      referenceId: z.string().regex(/^[A-Za-z]\w*$/),
      httpHeaders: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

/** Runs the requests of a composite. Each has its own status, and the composite itself succeeds. */
function runComposite(org: Org, { body }: ServedRequest): ServedResponse {
  const { compositeRequest } = compositeBody.parse(body);
  const subresponses = compositeRequest.map(({ method, url, referenceId, httpHeaders }) => {
    const { pathname, searchParams } = new URL(url, 'http://salesforce');
    const headers = Object.fromEntries(
      Object.entries(httpHeaders).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const { status, body } = routeSafely(org, {
      ...{ method, path: pathname, query: searchParams, headers },
      body: undefined,
    });
    return { body, httpHeaders: {}, httpStatusCode: status, referenceId };
  });
  return { status: 200, body: { compositeResponse: subresponses } };
}

function routeSafely(org: Org, request: ServedRequest): ServedResponse {
  try {
    return route(org, request);
  } catch (refusal) {
    if (refusal instanceof SalesforceRefusal) return refusal.response;
    throw refusal;
  }
}

function describeObject(store: SalesforceStore, name: string): ServedResponse {
  return { status: 200, body: store.getObject(name) };
}

function writeRecords({ store }: Org, request: ServedRequest): ServedResponse {
  const method = request.method === 'POST' ? 'POST' : 'PATCH';
  return writeCollection(store, { method, body: request.body }, readWriteOptions(request));
}

const values = z.record(z.string(), z.unknown());

function createRecord(
  { store, metadata }: Org,
  request: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const createdPermission = metadata.createPermission(name, request.body);
  if (createdPermission) return createdPermission;
  const id = store.create(name, values.parse(request.body), readWriteOptions(request));
  return { status: 201, body: { id, success: true, errors: [] } };
}

function updateRecord(
  { store }: Org,
  { query, body }: ServedRequest,
  [name = '', id = '']: string[],
): ServedResponse {
  if (query.get('_HttpMethod') !== 'PATCH') {
    throw new SalesforceRefusal(405, 'METHOD_NOT_ALLOWED', "HTTP Method 'POST' not allowed.");
  }
  store.update(name, id, values.parse(body));
  return { status: 204 };
}

function getRecord(
  { store }: Org,
  _: ServedRequest,
  [name = '', id = '']: string[],
): ServedResponse {
  return { status: 200, body: store.getRecord(name, id) };
}

function deleteRecord(
  { store }: Org,
  _: ServedRequest,
  [name = '', id = '']: string[],
): ServedResponse {
  store.delete(name, id);
  return { status: 204 };
}

function listDeleted(
  { store }: Org,
  { query }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const [start, end] = [query.get('start'), query.get('end')].map((text) => Date.parse(text ?? ''));
  if (!(start && end && end - start >= 60_000)) {
    throw new SalesforceRefusal(400, 'INVALID_REPLICATION_DATE', 'A minute at the least.');
  }
  const deletedRecords = store
    .listDeleted(name)
    .filter(({ time }) => time.getTime() >= start && time.getTime() <= end)
    .map(({ id, time }) => ({ id, deletedDate: time.toISOString() }));
  return { status: 200, body: { deletedRecords } };
}

function queryTooling({ channels, metadata }: Org, { query }: ServedRequest): ServedResponse {
  const soql = query.get('q') ?? '';
  return soql.includes('FROM PlatformEvent') ? channels.query(soql) : metadata.findField(soql);
}

function createTooling({ channels }: Org, request: ServedRequest, [kind = '']: string[]) {
  return channels.create(kind, request);
}

function getTooling({ channels }: Org, _: ServedRequest, [kind = '', id = '']: string[]) {
  return channels.get(kind, id);
}

function deleteTooling({ channels }: Org, _: ServedRequest, [kind = '', id = '']: string[]) {
  return channels.delete(kind, id);
}

function readWriteOptions({ headers }: ServedRequest): WriteOptions {
  return { allowsDuplicates: headers['sforce-duplicate-rule-header'] === 'allowSave=true' };
}
