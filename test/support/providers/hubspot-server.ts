/** A server that speaks the part of HubSpot's CRM API that the connector uses. */
import { z } from 'zod';
import { createBatch, updateBatch } from './hubspot-batch.ts';
import { createHubspotObjects } from './hubspot-objects.ts';
import { createGroup, createProperty, findGroup, updateProperty } from './hubspot-properties.ts';
import { listRecords, readBatch, searchRecords } from './hubspot-search.ts';
import {
  createHubspotError,
  HubspotRefusal,
  HubspotStore,
  recordProperties,
} from './hubspot-store.ts';
import {
  type Intercept,
  type ProviderServer,
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from './provider-server.ts';

export interface HubspotServer extends ProviderServer {
  store: HubspotStore;
}

export async function startHubspotServer(
  options: { token?: string; now?: () => Date; intercept?: Intercept } = {},
): Promise<HubspotServer> {
  const { token = 'hubspot-token', now = () => new Date() } = options;
  const store = new HubspotStore(createHubspotObjects(), now);
  const server = await startProviderServer((request) => {
    if (request.headers.authorization !== `Bearer ${token}`) return createHubspotFailure(401);
    try {
      return route(store, request);
    } catch (refusal) {
      if (refusal instanceof HubspotRefusal) return refusal.response;
      const message = `Invalid input JSON: ${refusal}`;
      return { status: 400, body: createHubspotError(message, 'VALIDATION_ERROR') };
    }
  }, options.intercept);
  return { ...server, store };
}

const FAILURES_BY_STATUS: Record<number, [category: string, message: string]> = {
  401: ['INVALID_AUTHENTICATION', 'Authentication credentials not found.'],
  403: ['MISSING_SCOPES', 'This app has not been granted all required scopes.'],
  429: ['RATE_LIMITS', 'You have reached your ten_secondly_rolling limit.'],
};

/** Returns a failure of the whole request in HubSpot's format. */
export function createHubspotFailure(
  status: number,
  headers: Record<string, string> = {},
): ServedResponse {
  const [category, message] = FAILURES_BY_STATUS[status] ?? ['INTERNAL_ERROR', 'internal error'];
  return { status, headers, body: createHubspotError(message, category) };
}

type Route = (store: HubspotStore, request: ServedRequest, names: string[]) => ServedResponse;

const V3_OBJECTS = '^/crm/v3/objects/([^/]+)';
const DATED_OBJECTS = '^/crm/objects/2026-03/([^/]+)';

/** The portal of all accounts on this server. */
export const PORTAL_ID = 4_711;

const ROUTES: [method: string, path: RegExp, route: Route][] = [
  [
    'GET',
    /^\/account-info\/2026-03\/details$/,
    () => ({ status: 200, body: { portalId: PORTAL_ID } }),
  ],
  ['GET', new RegExp(`${V3_OBJECTS}$`), listRecords],
  ['POST', new RegExp(`${V3_OBJECTS}/search$`), searchRecords],
  ['POST', new RegExp(`${V3_OBJECTS}$`), createRecord],
  ['PATCH', new RegExp(`${V3_OBJECTS}/([^/]+)$`), updateRecord],
  ['DELETE', new RegExp(`${DATED_OBJECTS}/([^/]+)$`), deleteRecord],
  ['POST', new RegExp(`${DATED_OBJECTS}/batch/create$`), createBatch],
  ['POST', new RegExp(`${DATED_OBJECTS}/batch/update$`), updateBatch],
  ['POST', new RegExp(`${V3_OBJECTS}/batch/read$`), readBatch],
  ['POST', /^\/crm\/v3\/properties\/([^/]+)$/, createProperty],
  ['PATCH', /^\/crm\/v3\/properties\/([^/]+)\/([^/]+)$/, updateProperty],
  ['GET', /^\/crm\/v3\/properties\/([^/]+)\/groups\/([^/]+)$/, findGroup],
  ['POST', /^\/crm\/v3\/properties\/([^/]+)\/groups$/, createGroup],
  [
    'GET',
    /^\/crm\/v3\/properties\/([^/]+)\/$/,
    (store, _, [name = '']) => ok({ results: store.getObject(name).properties }),
  ],
  [
    'GET',
    /^\/crm-object-schemas\/2026-03\/schemas\/([^/]+)$/,
    (store, _, [name = '']) => ok(store.getObject(name)),
  ],
  [
    'GET',
    /^\/crm\/pipelines\/2026-03\/([^/]+)$/,
    (store, _, [name = '']) => ok({ results: store.getObject(name).pipelines }),
  ],
];

function route(store: HubspotStore, request: ServedRequest): ServedResponse {
  for (const [method, path, handle] of ROUTES) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match) return handle(store, request, match.slice(1));
  }
  return { status: 404, body: 'Not found' };
}

const association = z.strictObject({
  to: z.strictObject({ id: z.string() }),
  types: z
    .array(z.strictObject({ associationCategory: z.string(), associationTypeId: z.int() }))
    .min(1),
});
const createBody = z.strictObject({
  properties: recordProperties,
  associations: z.array(association).optional(),
});

function createRecord(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { properties, associations } = createBody.parse(body);
  const record = store.create(name, properties);
  if (associations) record.associations = associations;
  return { status: 201, body: record };
}

function updateRecord(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '', id = '']: string[],
): ServedResponse {
  const { properties } = createBody.omit({ associations: true }).parse(body);
  const record = store.find(name, id);
  if (!record) throw new HubspotRefusal(404, 'OBJECT_NOT_FOUND', 'resource not found');
  return ok(store.update(name, record, properties));
}

/** HubSpot responds with 204 also if the record does not exist. */
function deleteRecord(
  store: HubspotStore,
  _: ServedRequest,
  [name = '', id = '']: string[],
): ServedResponse {
  store.delete(name, id);
  return { status: 204 };
}

function ok(body: unknown): ServedResponse {
  return { status: 200, body };
}
