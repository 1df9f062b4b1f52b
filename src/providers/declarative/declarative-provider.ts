/** Creates a provider from its declaration. It supports exactly what the declaration contains. */
import { z } from 'zod';
import { type Behavior, IMMEDIATE } from '../behavior.ts';
import { type CatalogEntry, DEFAULT_LIMITS } from '../catalog/catalog-entry.ts';
import {
  type AccountIdentity,
  type Capabilities,
  type CommonObject,
  type Connector,
  PROVIDER_CAPABILITIES,
  type Provider,
  type ProviderCapability,
  type ProviderLimits,
  type ProviderModule,
  type ProviderRequest,
  type ProviderSession,
} from '../contract.ts';
import type { BatchWrite } from '../moving-records.ts';
import {
  type Declaration,
  type DeclarationInput,
  type ObjectDeclaration,
  providerDeclaration,
} from './declaration/declaration.ts';
import type { IdentityRequest } from './declaration/events-declaration.ts';
import { matchesName } from './declaration/name-rule.ts';
import { createListSubscribe } from './events/event-list.ts';
import { createSubscribe } from './events/webhook-events.ts';
import { rejectsCredentials } from './failure.ts';
import { findValue, parseId, readOwn } from './json.ts';
import { describeObject, describeStandardFields, listObjects } from './metadata.ts';
import { readPage } from './reading/object-page.ts';
import { listPages } from './reading/proxy-list.ts';
import { readRecords } from './reading/records-by-ids.ts';
import { findSearchList } from './reading/search-conditions.ts';
import { sendRequest } from './send-request.ts';
import { fillPath } from './template.ts';
import { getBehavior, listDeclaredObjects, type Vendor } from './vendor.ts';
import { writeBatch } from './write-batch.ts';
import { deleteRecord, writeRecord } from './write-record.ts';

/** The maximum batch size if records are written one by one. It is small, because a batch is one job. */
const ONE_BY_ONE_BATCH_MAX = 20;
const WRITE_TYPES = ['CREATE', 'UPDATE'] as const;

/** A provider's settings, as in the catalog, and the declaration of its API for records. */
export interface DeclaredProvider extends Omit<CatalogEntry, 'modules'> {
  modules?: readonly DeclaredModule[];
  limits?: Partial<ProviderLimits>;
  api: DeclarationInput;
}

/** A module of a declared provider. Without an API of its own it uses that of the provider. */
export interface DeclaredModule extends Omit<ProviderModule, 'connector'> {
  limits?: Partial<ProviderLimits>;
  api?: DeclarationInput;
}

/** Creates a provider. Throws if the declaration is invalid. */
export function createDeclarativeProvider({
  api,
  limits,
  modules,
  ...settings
}: DeclaredProvider): Provider {
  const vendor = parseVendor(settings.displayName, api);
  const { healthCheck } = settings;
  return {
    ...settings,
    ...(modules && { modules: modules.map(createModule) }),
    ...(healthCheck && { healthCheck: addHeaders(healthCheck, vendor.declaration) }),
    ...describeVendor(vendor),
    ...createConnector(vendor, limits),
  };
}

export function createModule({ api, limits, ...settings }: DeclaredModule): ProviderModule {
  const { displayName } = settings;
  return {
    ...settings,
    ...(api && { connector: createDeclarativeConnector({ displayName, api, limits }) }),
  };
}

/** Creates the connector of a provider's module. Throws if the declaration is invalid. */
export function createDeclarativeConnector({
  displayName,
  api,
  limits,
}: Pick<DeclaredProvider, 'displayName' | 'api'> & {
  limits?: Partial<ProviderLimits> | undefined;
}): Connector {
  return createConnector(parseVendor(displayName, api), limits);
}

function parseVendor(displayName: string, api: DeclarationInput): Vendor {
  const { data, error } = providerDeclaration.safeParse(api);
  if (error) {
    throw new Error(`The declaration of ${displayName} is invalid:\n${z.prettifyError(error)}`);
  }
  return { displayName, declaration: data };
}

/**
 * Returns the health check with the headers that the vendor requires of every request, such as its API version. It omits
 * headers with metadata, which a new connection may lack.
 */
function addHeaders(
  healthCheck: NonNullable<Provider['healthCheck']>,
  { headers }: Declaration,
): ProviderRequest {
  const request =
    typeof healthCheck === 'string' ? { method: 'GET' as const, path: healthCheck } : healthCheck;
  const fixedHeaders = Object.entries(headers).filter(([, value]) => !value.includes('{{'));
  return { ...request, headers: { ...Object.fromEntries(fixedHeaders), ...request.headers } };
}

function createConnector(vendor: Vendor, limits: DeclaredProvider['limits']): Connector {
  const { otherObjects, objects, writeOnlyObjects, idempotency } = vendor.declaration;
  return {
    ...(!otherObjects && { objects: [...Object.keys(objects), ...Object.keys(writeOnlyObjects)] }),
    objectAliases: new Map(
      Object.entries(objects).flatMap(([name, { aliases }]) =>
        aliases.map((alias) => [alias, name] as const),
      ),
    ),
    commonObjects: [
      ...Object.entries(objects).map(
        ([name, object]): CommonObject => ({
          name,
          displayName: object.displayName,
          supports: listObjectCapabilities(object),
          filtersMax: getFiltersMax(object),
          canReadByIds: object.byIds !== undefined,
          writes: listWrites(object),
          isSearchable: createSearchCheck(object),
          fields: describeStandardFields(object.standardFields),
        }),
      ),
      ...Object.entries(writeOnlyObjects).map(
        ([name, { displayName }]): CommonObject => ({
          name,
          displayName,
          supports: ['WRITE', 'BATCH_WRITE'],
          filtersMax: 0,
          canReadByIds: false,
          writes: ['CREATE'],
          fields: [],
        }),
      ),
    ],
    limits: createLimits(vendor, limits),
    features: {
      filtersMax: Math.max(0, ...listDeclaredObjects(vendor.declaration).map(getFiltersMax)),
      associations: false,
      headers: false,
      idempotencyKeyLifetimeMs: idempotency?.keyLifetimeMs ?? null,
      allOrNoneTypes: listAllOrNoneTypes(vendor),
    },
    capabilities: { ...createCapabilities(vendor), proxy: true },
  };
}

function createLimits(
  { declaration }: Vendor,
  limits: Partial<ProviderLimits> = {},
): ProviderLimits {
  const hasBatches = listDeclaredObjects(declaration).every(
    ({ create, createMany }) => !create || createMany,
  );
  const batchSize = hasBatches ? DEFAULT_LIMITS.batchSize : ONE_BY_ONE_BATCH_MAX;
  return { ...DEFAULT_LIMITS, batchSize, ...limits };
}

type VendorDescription = Pick<
  Provider,
  'docsUrl' | 'apiVersion' | 'scopes' | 'inputs' | 'rejectsCredentials'
>;

function describeVendor(vendor: Vendor): VendorDescription {
  const { docsUrl, apiVersion, scopes, inputs } = vendor.declaration;
  return {
    rejectsCredentials: (response) => rejectsCredentials(vendor, response),
    ...(docsUrl && { docsUrl }),
    ...(apiVersion && { apiVersion }),
    scopes,
    inputs: Object.entries(inputs).map(([name, { isOptional, ...input }]) => ({
      name,
      ...input,
      ...(isOptional && { optional: true as const }),
    })),
  };
}

/** Returns the write types that the vendor has a request for. */
function listWrites({ create, update }: ObjectDeclaration): BatchWrite['type'][] {
  const requests = { CREATE: create, UPDATE: update };
  return WRITE_TYPES.filter((type) => requests[type] !== undefined);
}

/** Returns the check of the fields that a search may name. Undefined if the object can't be searched. */
function createSearchCheck(object: ObjectDeclaration): CommonObject['isSearchable'] {
  const filter = findSearchList(object)?.equalityFilter;
  return filter && ((fieldName) => matchesName(filter.names, fieldName));
}

function getFiltersMax(object: ObjectDeclaration): number {
  return findSearchList(object)?.equalityFilter?.max ?? 0;
}

/** Returns the batch types that the vendor can refuse as a whole, because partial success is optional for them. */
function listAllOrNoneTypes({ declaration }: Vendor): BatchWrite['type'][] {
  const objects = listDeclaredObjects(declaration);
  const batches = {
    CREATE: objects.flatMap(({ createMany }) => createMany ?? []),
    UPDATE: objects.flatMap(({ updateMany }) => updateMany ?? []),
  };
  return WRITE_TYPES.filter(
    (type) =>
      batches[type].length > 0 &&
      batches[type].every(({ partialSuccessQuery }) => partialSuccessQuery !== undefined),
  );
}

/** Returns the capabilities for one object's records. */
function listObjectCapabilities(object: ObjectDeclaration): ProviderCapability[] {
  const { create, update, remove, createMany, updateMany, fieldList, standardFields } = object;
  const requests: Partial<Record<ProviderCapability, unknown>> = {
    READ: true,
    WRITE: create ?? update,
    DELETE: remove,
    BATCH_WRITE: createMany ?? updateMany ?? create ?? update,
    METADATA: fieldList ?? standardFields,
  };
  return PROVIDER_CAPABILITIES.filter((capability) => requests[capability] !== undefined);
}

function createCapabilities(vendor: Vendor): Capabilities {
  const { events, eventList, identity } = vendor.declaration;
  const objects = listDeclaredObjects(vendor.declaration);
  const isDeclared = (part: keyof ObjectDeclaration) => objects.some((object) => object[part]);
  if (objects.length === 0) return {};
  return {
    readPage: (session, read) => readPage(vendor, session, read),
    getBehavior: (objectName) => getObjectBehavior(vendor, objectName),
    ...(isDeclared('byIds') && {
      readRecords: (session, read) => readRecords(vendor, session, read),
    }),
    ...((isDeclared('create') || isDeclared('update')) && {
      writeRecord: (session, write) => writeRecord(vendor, session, write),
      writeBatch: (session, write) => writeBatch(vendor, session, write),
    }),
    ...(isDeclared('remove') && {
      deleteRecord: (session, removal) => deleteRecord(vendor, session, removal),
    }),
    ...(events && { subscribe: createSubscribe(vendor, events) }),
    ...(eventList && { subscribe: createListSubscribe(vendor, eventList) }),
    ...(identity && { identify: (session) => requestIdentity(vendor, identity, session) }),
    listPages: (session, request) => listPages(vendor, session, request),
    listObjects: (session) => listObjects(vendor, session),
    ...((isDeclared('fieldList') || isDeclared('standardFields')) && {
      describeObject: (session, objectName) => describeObject(vendor, session, objectName),
    }),
  };
}

/** Returns the behavior of the list from which scheduled reads read an object. */
function getObjectBehavior(vendor: Vendor, objectName: string): Behavior {
  const { objects, otherObjects, behavior: ownBehavior } = vendor.declaration;
  const object = readOwn(objects, objectName) ?? otherObjects;
  if (!object) return ownBehavior;
  const { list, incrementalList, changedAt } = object;
  const changesList = incrementalList ?? list;
  const behavior = getBehavior(vendor.declaration, changesList);
  // Without times of change, each read returns all records, so no record can be missed because it appears late.
  return changedAt || changesList.since ? behavior : { ...behavior, visibility: IMMEDIATE };
}

/** Requests the account of the connection. Throws ProviderError if the request fails. */
async function requestIdentity(
  vendor: Vendor,
  { method, path, body, workspaceRef, consumerRef }: IdentityRequest,
  session: ProviderSession,
): Promise<AccountIdentity> {
  const request = { method, path: fillPath(path, {}, session), ...(body && { body }) };
  const response = await sendRequest(vendor, session, request);
  return {
    workspaceRef: parseId(findValue(response.body, workspaceRef)),
    consumerRef: consumerRef === undefined ? null : parseId(findValue(response.body, consumerRef)),
  };
}
