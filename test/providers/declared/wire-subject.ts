/**
 * Subjects of the provider contract: a declared provider, and a server that speaks its vendor's wire format.
 */
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { vendorServer } from '../../support/wire/vendor-server.ts';
import { TOKEN, type WireVendor } from '../../support/wire/wire-format.ts';
import type { ContractSubject } from '../contract.ts';

export async function wireSubject(
  declared: DeclaredProvider,
  wire: WireVendor,
): Promise<ContractSubject> {
  const { fixture, objectName, textField, missingId, needs = {}, facts = {} } = wire;
  const server = await vendorServer(fixture);
  const toReference = fixture.createReference ?? String;
  const object = declared.records.objects[objectName] ?? declared.records.otherObjects;
  return {
    provider: createDeclarativeProvider(only(declared, objectName)),
    session: createPlainSession(server.url, createHeaders(declared, fixture.headers), { facts }),
    secret: TOKEN,
    objectName,
    textField,
    validRecord: (text) => ({ ...needs, [textField]: text }),
    invalidRecord: { ...needs, [textField]: 'x'.repeat(201) },
    missingId,
    smallestPage: 2,
    tellsChanges: !wire.lacksChangeTimes,
    isSearched: wire.isSearched !== false,
    isPaged: object?.list.pageSize !== undefined,
    creates: object?.create !== undefined || object?.createMany !== undefined,
    namesCreated: object?.create?.returnsNoId !== true,
    updates: object?.update !== undefined,
    isDescribedBeforehand: object?.fields === undefined,
    countRecords: () => server.store.records.length,
    storeRecords: (records) =>
      records.map(({ record, changedAt }) =>
        toReference(server.store.create({ ...record }, changedAt).id),
      ),
    failRequests: (fault) => {
      if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
      const { status } = fault;
      const headers: Record<string, string> =
        'retryAfterSeconds' in fault ? { 'retry-after': `${fault.retryAfterSeconds}` } : {};
      server.failNext({ status, headers, body: fixture.toErrorBody(status, 'refused') }, Infinity);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Puts a key where the declaration says. The wire format checks it. A token goes into the Authorization
 * header.
 */
function createHeaders(
  { apiKey }: DeclaredProvider,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  if (apiKey?.in !== 'header') return { ...headers };
  const others = Object.entries(headers).filter(([, value]) => !value.includes(TOKEN));
  const { name, valuePrefix = '' } = apiKey;
  return { ...Object.fromEntries(others), [name.toLowerCase()]: `${valuePrefix}${TOKEN}` };
}

/** The declaration reduced to one object and its parents. */
function only(declared: DeclaredProvider, objectName: string): DeclaredProvider {
  const { objects } = declared.records;
  const kept = Object.entries(objects).filter(([name]) => name === objectName);
  for (let parent = objects[objectName]?.parent; parent; parent = objects[parent.object]?.parent) {
    const { displayName = '', id, list, parent: above } = objects[parent.object] ?? {};
    if (list) kept.push([parent.object, { displayName, id, list, parent: above }]);
  }
  const { otherObjects, events, ...records } = declared.records;
  const reported = Object.values(events?.types ?? {}).map(({ object }) => object ?? objectName);
  const isNamed = objectName in objects;
  return {
    ...declared,
    records: {
      ...records,
      ...(!isNamed && otherObjects && { otherObjects }),
      ...(events && reported.includes(objectName) && { events }),
      objects: Object.fromEntries(kept),
    },
  };
}
