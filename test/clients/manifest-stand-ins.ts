/**
 * Providers whose vendors are test servers. The server of a declared provider is started for each account, and has only
 * the object that the account needs.
 */
import { CATALOG } from '../../src/providers/catalog/all-entries.ts';
import type { Provider, ProviderModule } from '../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { applyModule } from '../../src/providers/modules.ts';
import { resolveObjectName } from '../../src/providers/object-support.ts';
import { createSalesforceProvider } from '../../src/providers/salesforce/salesforce-provider.ts';
import { startHubspotServer } from '../support/providers/hubspot-server.ts';
import { startSalesforceServer } from '../support/providers/salesforce-server.ts';
import { METADATA } from '../support/wire/generated-parts.ts';
import { generateWire } from '../support/wire/generated-wire.ts';
import { deskVendor, engagementVendor } from '../support/wire/module-vendors.ts';
import { startVendorServer, type VendorServer } from '../support/wire/vendor-server.ts';
import { TOKEN } from '../support/wire/wire-format.ts';

/** The account that a manifest needs: with a record of the object, and with these fields. */
export interface AccountRequirements {
  provider: string;
  module: string | null;
  objectName: string;
  fields: string[];
}

export interface Account extends AsyncDisposable {
  /** Members of the input of `generateConnection`, without the group and the consumer. */
  connection: object;
  /** A record that the test can create. */
  record: object;
}

export interface StandIns extends AsyncDisposable {
  providers: Provider[];
  /** Creates an account with a record of the object. */
  open(options: AccountRequirements): Promise<Account>;
}

export async function startStandIns(): Promise<StandIns> {
  const servers = await Promise.all([
    startSalesforceServer({ token: TOKEN }),
    startHubspotServer({ token: TOKEN }),
  ]);
  const [salesforce, hubspot] = servers;
  /** The server of the declared provider or module whose account was opened last. */
  let declaredServer: VendorServer | undefined;
  const declarations = DECLARATIONS.map(replaceOAuthByKey);
  const names = new Set(declarations.map(({ name }) => name));
  const tokenConnection = {
    providerWorkspaceRef: 'acme',
    oauth2AuthorizationCode: { accessToken: { token: TOKEN }, scopes: [] },
  };

  const openDeclared = async ({
    provider: name,
    module,
    objectName,
  }: AccountRequirements): Promise<Account> => {
    const declaredProvider = declarations.find(
      (declaration) => declaration.name === name,
    ) as DeclaredProvider;
    const accountObject = resolveObjectName(
      applyModule(createDeclarativeProvider(declaredProvider), module),
      objectName,
    );
    const hasModuleServer = module === 'desk';
    const { metadata, ...account } = await openGenerated(
      hasModuleServer ? deskVendor.declaration : declaredProvider,
      accountObject,
    );
    const providerMetadata = {
      ...listInputs(declaredProvider),
      ...(hasModuleServer && deskVendor.metadata),
      ...metadata,
    };
    const providerWorkspaceRef = METADATA.findMetadata('workspace');
    return { ...account, connection: { apiKey: TOKEN, providerWorkspaceRef, providerMetadata } };
  };

  const openGenerated = async (declaration: DeclaredProvider, objectName: string) => {
    const { fixture, metadata, requiredValues, textField } = generateWire(declaration, objectName);
    const server = await startVendorServer(fixture);
    server.store.create({ [textField]: 'From the account' }, new Date(Date.now() - HOUR_MS));
    declaredServer = server;
    return {
      metadata,
      record: { ...requiredValues, [textField]: 'Written' },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };

  const openSalesforce = async ({
    module,
    objectName,
    fields,
  }: AccountRequirements): Promise<Account> => {
    if (module !== null) {
      const { declaration, metadata: providerMetadata } = engagementVendor;
      const account = await openGenerated(declaration, objectName);
      return { ...account, connection: { ...tokenConnection, providerMetadata } };
    }
    const { store } = salesforce;
    const object = store.getObject(getVendorName(objectName));
    const [template] = object.fields.filter(({ type }) => type === 'textarea' || type === 'email');
    if (!template) throw new Error(`${object.name} has no field to copy.`);
    for (const name of fields) {
      const isKnown = object.fields.some(
        (field) => field.name.toLowerCase() === name.toLowerCase(),
      );
      if (!isKnown) object.fields.push({ ...template, name, label: name });
    }
    const record = object.name === 'Account' ? { Name: 'Acme' } : { LastName: 'Ames' };
    store.create(object.name, record);
    return { connection: tokenConnection, record, ...NOTHING_TO_CLOSE };
  };

  const openHubspot = ({ objectName }: AccountRequirements): Account => {
    const record = { email: `${crypto.randomUUID()}@acme.example` };
    hubspot.store.create(objectName, record);
    return { connection: tokenConnection, record, ...NOTHING_TO_CLOSE };
  };

  return {
    providers: [
      setModuleUrls(
        createSalesforceProvider({ baseUrl: salesforce.url }),
        () => declaredServer?.url ?? '',
      ),
      createHubspotProvider({ baseUrl: hubspot.url }),
      ...declarations.map((declaration) =>
        setBaseUrl(
          setModuleUrls(createDeclarativeProvider(declaration), () => declaredServer?.url ?? ''),
          () => declaredServer?.url ?? '',
        ),
      ),
      ...CATALOG.filter(({ name }) => !names.has(name)),
    ],
    async open(options) {
      if (options.provider === 'salesforce') return openSalesforce(options);
      if (options.provider === 'hubspot') return openHubspot(options);
      return openDeclared(options);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** The age of the records. Reads exclude records of the last minute. */
const HOUR_MS = 3_600_000;

/** The servers of these accounts run until the end of the tests. */
const NOTHING_TO_CLOSE = { [Symbol.asyncDispose]: async () => {} };

/** Returns Salesforce's name of an object, which begins with a capital letter. Manifests may use lower case. */
function getVendorName(objectName: string): string {
  return objectName.charAt(0).toUpperCase() + objectName.slice(1);
}

/** Returns the declaration with an API key in place of OAuth, and without the vendor's hosts. */
function replaceOAuthByKey(declared: DeclaredProvider): DeclaredProvider {
  const {
    oauth2: _oauth2,
    custom: _custom,
    hosts: _hosts,
    linkHosts: _linkHosts,
    healthCheck: _check,
    workspaceRequired: _workspace,
    ...declaration
  } = declared;
  return {
    ...declaration,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    limits: { ...declared.limits, requestsPerSecond: 1_000 },
  };
}

/** Returns the provider or module with a base URL that is read for each request. */
function setBaseUrl<T extends Provider | ProviderModule>(owner: T, getUrl: () => string): T {
  return Object.defineProperty(owner, 'baseUrl', { get: getUrl, enumerable: true });
}

/** Returns the provider with that base URL for each module that has its own objects. */
function setModuleUrls(provider: Provider, getUrl: () => string): Provider {
  if (!provider.modules) return provider;
  const modules = provider.modules.map((module) =>
    module.connector ? setBaseUrl({ ...module }, getUrl) : module,
  );
  return { ...provider, modules };
}

/** Returns a value for each input that a connection of the provider needs. */
function listInputs({ api: { inputs = {} } }: DeclaredProvider): Record<string, string> {
  return Object.fromEntries(Object.keys(inputs).map((name) => [name, METADATA.findMetadata(name)]));
}
