/** Vendors whose servers misbehave: the declared ones, HubSpot, Salesforce, and Salesforce's module. */
import type { Provider } from '../../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../../src/providers/declarative/declarative-provider.ts';
import { compileDocument } from '../../../../src/providers/document/compile-document.ts';
import { createHubspotProvider } from '../../../../src/providers/hubspot/hubspot-provider.ts';
import { applyModule } from '../../../../src/providers/modules.ts';
import { createSalesforceProvider } from '../../../../src/providers/salesforce/salesforce-provider.ts';
import { startHubspotServer } from '../../providers/hubspot-server.ts';
import type { ProviderServer } from '../../providers/provider-server.ts';
import { startSalesforceServer } from '../../providers/salesforce-server.ts';
import { accountEngagement } from '../account-engagement.ts';
import { readExported } from '../documented.ts';
import { startVendorServer } from '../vendor-server.ts';
import type { StoredRecord } from '../vendor-store.ts';
import { WIRES } from '../vendors/all.ts';
import { isObject, TOKEN, type Values, type WireVendor } from '../wire-format.ts';
import { MISBEHAVIORS, type Misbehaviors } from './misbehaviors.ts';
import { createIntercept, distortTimes, Switches } from './switches.ts';

/** The account of a test at a misbehaving server. */
export interface DifficultAccount extends AsyncDisposable {
  url: string;
  switches: Switches;
  /** Stores a record, and returns its ID as the gateway delivers it. */
  create(values: Values, changedAt: Date): string;
  /** `listTime` is the time by which lists are ordered, if it differs. */
  change(id: string, values: Values, changedAt: Date, listTime?: Date): void;
  /** Hides these records from the account. */
  hide(ids: ReadonlySet<string>): void;
  /** Returns an error in the vendor's format. */
  createError(status: number, message: string): unknown;
}

export interface DifficultVendor {
  /** The provider's name in the app. */
  name: string;
  vendorName: string;
  misbehaviors: Misbehaviors;
  objectName: string;
  textField: string;
  /** Members of the input of `generateConnection`. */
  connection: object;
  /** The number of records that fill several pages. */
  recordsMin: number;
  createProvider(): Provider;
  start(now: () => Date): Promise<DifficultAccount>;
}

/** Small pages, so that a few records fill several. No test waits for the vendor's rate limit. */
const LIMITS = { pageSize: 3, requestsPerSecond: 100_000, concurrency: 1_000, timeoutMs: 10_000 };

/** Returns the provider with an API key in place of OAuth, and without modules and inputs. */
function simplify(
  provider: Provider,
  { name, header }: { name: string; header: string },
): Provider {
  const { modules: _, oauth2: __, custom: ___, inputs: ____, ...rest } = provider;
  return {
    ...rest,
    name,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: header },
    limits: { ...provider.limits, ...LIMITS },
  };
}

/** `name` is the name in the app, if it differs from that of the declaration. */
export function createDeclaredVendor(
  declared: DeclaredProvider,
  wire: WireVendor = WIRES[declared.name] as WireVendor,
  name = declared.name,
): DifficultVendor {
  const { fixture, objectName, textField, metadata = {} } = wire;
  const [[header, key] = ['', '']] = Object.entries(fixture.headers);
  return {
    ...describeVendor(declared.name),
    name,
    objectName,
    textField,
    recordsMin: 0,
    connection: createConnection(key, metadata),
    createProvider: () => simplify(createDeclarativeProvider(declared), { name, header }),
    start: (now) => startWireAccount(wire, now),
  };
}

/** The vendor of a built-in provider that was exported and compiled from its document. */
export function createDocumentedVendor(declared: DeclaredProvider): DifficultVendor {
  const { provider } = compileDocument(readExported(declared));
  const vendor = createDeclaredVendor(declared, WIRES[declared.name], provider.name);
  const [header = ''] = Object.keys(WIRES[declared.name]?.fixture.headers ?? {});
  return { ...vendor, createProvider: () => simplify(provider, { name: provider.name, header }) };
}

function describeVendor(vendorName: string) {
  const misbehaviors = MISBEHAVIORS[vendorName];
  if (!misbehaviors) throw new Error(`The table of misbehaviors lacks ${vendorName}.`);
  return { name: vendorName, vendorName, misbehaviors };
}

function createConnection(apiKey: string, metadata: Record<string, string>) {
  const entries = Object.entries(metadata).map(([name, value]) => [name, { value }]);
  return { apiKey, providerWorkspaceRef: 'acme', providerMetadata: Object.fromEntries(entries) };
}

async function startWireAccount(
  { fixture, requiredValues = {} }: WireVendor,
  now: () => Date,
): Promise<DifficultAccount> {
  const switches = new Switches();
  const toRow = (record: StoredRecord) => JSON.stringify(fixture.object.toVendorRecord(record));
  const isRow = (item: unknown) => {
    const text = JSON.stringify(item);
    return server.store.records.some((record) => toRow(record) === text);
  };
  const intercept = createIntercept({ switches, now, isRow });
  const server = await startVendorServer(distortTimes(fixture, switches), now, intercept);
  const toReference = fixture.createReference ?? String;
  const find = (id: string) =>
    server.store.records.find((record) => toReference(record.id) === id) as StoredRecord;
  return {
    ...pickServer(server),
    switches,
    create: (values, changedAt) =>
      toReference(server.store.create({ ...requiredValues, ...values }, changedAt).id),
    change(id, values, changedAt, listTime) {
      const record = find(id);
      Object.assign(record.values, values);
      record.changedAt = changedAt;
      if (listTime) switches.listTimes.set(String(record.id), listTime);
    },
    hide(ids) {
      switches.isHidden = (item) => {
        const text = JSON.stringify(item);
        return [...ids].some((id) => toRow(find(id)) === text);
      };
    },
    createError: fixture.toErrorBody,
  };
}

function pickServer(server: ProviderServer) {
  return { url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

export const hubspotVendor: DifficultVendor = {
  ...describeVendor('hubspot'),
  objectName: 'contacts',
  textField: 'firstname',
  recordsMin: 0,
  connection: createConnection(`Bearer ${TOKEN}`, {}),
  createProvider: () =>
    simplify(createHubspotProvider(), { name: 'hubspot', header: 'authorization' }),
  async start(now) {
    const switches = new Switches();
    const isRow = (item: unknown) => isObject(item) && isObject(item.properties);
    const intercept = createIntercept({ switches, now, isRow });
    const server = await startHubspotServer({ token: TOKEN, now, intercept });
    return {
      ...pickServer(server),
      switches,
      create: (values, changedAt) => {
        const { id, properties } = server.store.create('contacts', {}, changedAt);
        Object.assign(properties, values);
        return id;
      },
      change(id, values, changedAt) {
        const record = server.store.find('contacts', id);
        const time = changedAt.toISOString();
        Object.assign(record?.properties ?? {}, values, { lastmodifieddate: time });
      },
      hide: () => {},
      createError: (_, message) => ({ status: 'error', category: 'VALIDATION_ERROR', message }),
    };
  },
};

/** The smallest page of Salesforce has 200 records. */
const SALESFORCE_PAGE = 200;

export const salesforceVendor: DifficultVendor = {
  ...describeVendor('salesforce'),
  objectName: 'Account',
  textField: 'Name',
  recordsMin: 2 * SALESFORCE_PAGE + 1,
  connection: createConnection(`Bearer ${TOKEN}`, {}),
  createProvider: () =>
    simplify(createSalesforceProvider(), { name: 'salesforce', header: 'authorization' }),
  async start(now) {
    const switches = new Switches();
    const isRow = (item: unknown) => isObject(item) && isObject(item.attributes);
    const intercept = createIntercept({ switches, now, isRow });
    const server = await startSalesforceServer({ token: TOKEN, now, intercept });
    const { store } = server;
    const addFields = (values: Values) => {
      const { fields } = store.getObject('Account');
      const template = fields.find(({ type }) => type === 'textarea') as (typeof fields)[number];
      for (const name of Object.keys(values)) {
        if (!fields.some((field) => field.name === name)) fields.push({ ...template, name });
      }
    };
    return {
      ...pickServer(server),
      switches,
      create(values, changedAt) {
        addFields(values);
        return store.create('Account', values, { changedAt });
      },
      change(id, values, changedAt) {
        const time = changedAt.toISOString();
        Object.assign(store.getRecord('Account', id), values, { SystemModstamp: time });
      },
      hide: () => {},
      createError: (_, message) => [{ errorCode: 'INVALID_QUERY_LOCATOR', message }],
    };
  },
};

export const accountEngagementVendor: DifficultVendor = {
  ...createDeclaredVendor({ name: 'accountEngagement' } as DeclaredProvider, accountEngagement),
  createProvider() {
    const module = applyModule(createSalesforceProvider(), 'account-engagement') as Provider;
    return simplify(module, { name: 'accountEngagement', header: 'authorization' });
  },
};
