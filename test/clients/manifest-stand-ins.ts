/**
 * Providers whose vendors are test servers. The server of a declared provider is started for each account, and has only
 * the object that the account needs.
 */
import { CATALOG } from '../../src/providers/catalog/all-entries.ts';
import type { Provider } from '../../src/providers/contract.ts';
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
import { accountEngagement } from '../support/wire/account-engagement.ts';
import { METADATA } from '../support/wire/generated-parts.ts';
import { generateWire } from '../support/wire/generated-wire.ts';
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
    startVendorServer(accountEngagement.fixture),
    startHubspotServer({ token: TOKEN }),
  ]);
  const [salesforce, engagement, hubspot] = servers;
  /** The server of the declared provider whose account was opened last. */
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
    const { fixture, metadata, requiredValues, textField } = generateWire(
      declaredProvider,
      accountObject,
    );
    const server = await startVendorServer(fixture);
    server.store.create({ [textField]: 'From the account' }, new Date(Date.now() - HOUR_MS));
    declaredServer = server;
    return {
      connection: {
        apiKey: TOKEN,
        providerWorkspaceRef: METADATA.findMetadata('workspace'),
        providerMetadata: metadata,
      },
      record: { ...requiredValues, [textField]: 'Written' },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };

  const openSalesforce = ({ module, objectName, fields }: AccountRequirements): Account => {
    if (module !== null) {
      engagement.store.create({ firstName: 'Ann' }, new Date());
      const providerMetadata = accountEngagement.metadata;
      const connection = { ...tokenConnection, providerMetadata };
      return { connection, record: { firstName: 'Ann' }, ...NOTHING_TO_CLOSE };
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
      createSalesforceProvider({ baseUrl: salesforce.url, engagementUrl: engagement.url }),
      createHubspotProvider({ baseUrl: hubspot.url }),
      ...declarations.map((declaration) =>
        setBaseUrl(createDeclarativeProvider(declaration), () => declaredServer?.url ?? ''),
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

/** Returns the provider with a base URL that is read for each request. */
function setBaseUrl(provider: Provider, getUrl: () => string): Provider {
  return Object.defineProperty(provider, 'baseUrl', { get: getUrl, enumerable: true });
}
