/** Creates subjects of the provider contract from a declared provider and a server that speaks its vendor's wire format. */
import { afterAll } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { startVendorServer, type VendorServer } from '../../support/wire/vendor-server.ts';
import { TOKEN, type WireVendor } from '../../support/wire/wire-format.ts';
import type { ContractSubject } from '../contract.ts';
import type { CreateSubject } from '../contract-subject.ts';

/** Opens subjects for the tests of a suite. */
export function prepareWireSubjects(
  declaration: DeclaredProvider,
  wire: WireVendor,
): CreateSubject {
  const subjects = openWireSubjects(declaration, wire);
  afterAll(() => subjects[Symbol.asyncDispose]());
  return subjects.create;
}

/** The subjects are used one after another. They share a provider and a server, and each has an empty account. */
export function openWireSubjects(declaration: DeclaredProvider, wire: WireVendor) {
  let shared: Promise<{ provider: Provider; server: VendorServer }> | undefined;
  const open = async () => ({
    provider: createDeclarativeProvider(reduceToObject(declaration, wire.objectName)),
    server: await startVendorServer(wire.fixture),
  });
  const create: CreateSubject = async () => {
    shared ??= open();
    const { provider, server } = await shared;
    return {
      ...createWireSubject(declaration, wire, provider, server),
      [Symbol.asyncDispose]: async () => server.reset(),
    };
  };
  const dispose = async () => (await shared)?.server[Symbol.asyncDispose]();
  return { create, [Symbol.asyncDispose]: dispose };
}

function createWireSubject(
  declaration: DeclaredProvider,
  wire: WireVendor,
  provider: Provider,
  server: VendorServer,
): ContractSubject {
  const { fixture, objectName, textField, missingId, requiredValues = {}, metadata = {} } = wire;
  const object = declaration.api.objects[objectName] ?? declaration.api.otherObjects;
  return {
    provider,
    session: createPlainSession(server.url, createHeaders(declaration, fixture.headers), {
      metadata,
    }),
    secret: TOKEN,
    objectName,
    textField,
    createValidRecord: (text) => ({ ...requiredValues, [textField]: text }),
    invalidRecord: { ...requiredValues, [textField]: 'x'.repeat(201) },
    missingId,
    pageSizeMin: 2,
    hasChangeTimes: !wire.lacksChangeTimes,
    canSearch: wire.canSearch !== false,
    isPaged: object?.list.pageSize !== undefined,
    canCreate: object?.create !== undefined || object?.createMany !== undefined,
    returnsCreatedId: object?.create?.returnsNoId !== true,
    canUpdate: object?.update !== undefined,
    isDescribedWithoutRequest: object?.fieldList === undefined,
    ...createServerControls(server),
  };
}

/** Returns the functions by which tests of the contract control the account at a vendor's server. */
export function createServerControls(server: VendorServer) {
  const { fixture, store } = server;
  const toReference = fixture.createReference ?? String;
  return {
    countRecords: () => store.records.length,
    storeRecords: (records) =>
      records.map(({ record, changedAt }) =>
        toReference(store.create({ ...record }, changedAt).id),
      ),
    failRequests: (fault) => {
      if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
      const { status } = fault;
      const headers: Record<string, string> =
        'retryAfterSeconds' in fault ? { 'retry-after': `${fault.retryAfterSeconds}` } : {};
      server.failNext({ status, headers, body: fixture.toErrorBody(status, 'refused') }, Infinity);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  } satisfies Partial<ContractSubject>;
}

/**
 * Returns the headers of the session: the API key in the declared header, or the token in `Authorization`.
 */
function createHeaders(
  { apiKey }: DeclaredProvider,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  if (apiKey?.in !== 'header') return { ...headers };
  const otherHeaders = Object.entries(headers).filter(([, value]) => !value.includes(TOKEN));
  const { name, valuePrefix = '' } = apiKey;
  return { ...Object.fromEntries(otherHeaders), [name.toLowerCase()]: `${valuePrefix}${TOKEN}` };
}

/** Returns the declaration with only one object and its parents. */
function reduceToObject(declaration: DeclaredProvider, objectName: string): DeclaredProvider {
  const { objects } = declaration.api;
  const entries = Object.entries(objects).filter(([name]) => name === objectName);
  for (let parent = objects[objectName]?.parent; parent; parent = objects[parent.object]?.parent) {
    const { displayName = '', id, list, parent: grandparent } = objects[parent.object] ?? {};
    if (list) entries.push([parent.object, { displayName, id, list, parent: grandparent }]);
  }
  const { otherObjects, events, ...records } = declaration.api;
  const eventObjects = Object.values(events?.types ?? {}).map(({ object }) => object ?? objectName);
  const isNamed = objectName in objects;
  return {
    ...declaration,
    api: {
      ...records,
      ...(!isNamed && otherObjects && { otherObjects }),
      ...(events && eventObjects.includes(objectName) && { events }),
      objects: Object.fromEntries(entries),
    },
  };
}
