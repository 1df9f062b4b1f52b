/** A project with the object `people` at two test servers: the sandbox for the group `acme`, and Zoho for `globex`. */
import { afterAll } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { sandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { sharedApp, type Tenant, type TestApp } from '../app.ts';
import { createClient, type GraphqlClient } from '../graphql-client.ts';
import { startSandbox, type TestSandbox } from '../providers/sandbox.ts';
import { vendorServer } from '../wire/vendor-server.ts';
import { zoho } from '../wire/vendors/crm/zoho-wire.ts';
import { TOKEN } from '../wire/wire-format.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, integrate } from './integrations.ts';

export interface TypedApi extends TestApp {
  sandbox: TestSandbox;
  zoho: Awaited<ReturnType<typeof vendorServer>>;
}

/** Starts the app with both test servers. All tests of a file share it. */
export async function typedApi(env: Record<string, string> = {}): Promise<TypedApi> {
  const sandbox = await startSandbox();
  const vendor = await vendorServer(zoho.fixture);
  const app = await sharedApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...env },
    providers: [sandboxProvider(() => sandbox.url), createZohoProvider(vendor.url)],
  });
  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    await vendor[Symbol.asyncDispose]();
  });
  return { ...app, sandbox, zoho: vendor };
}

function createZohoProvider(baseUrl: string): Provider {
  const declared = DECLARATIONS.find(({ name }) => name === 'zoho') as DeclaredProvider;
  return createDeclarativeProvider({
    ...declared,
    baseUrl,
    modules: undefined,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    oauth2: undefined,
    limits: { requestsPerSecond: 1_000 },
  });
}

/** Creates a client of the typed API of the tenant's project. It sends the tenant's API key by default. */
export function typedClient(
  app: TestApp,
  { projectId, apiKey }: Pick<Tenant, 'projectId' | 'apiKey'>,
  headers: Record<string, string> = { 'x-api-key': apiKey },
): GraphqlClient {
  return createClient(app.fetch, headers, `/graphql/projects/${projectId}`);
}

interface People {
  integration: string;
  provider: 'sandbox' | 'zoho';
  groupRef: string;
  /** Members of the read object, which replace the default ones. */
  read?: object;
  /** Members of the write object besides its name. */
  write?: object;
  config?: object;
}

const FIELDS = {
  sandbox: {
    objectName: 'contacts',
    requiredFields: [
      { fieldName: 'lastname', mapToName: 'lastName' },
      { fieldName: 'email', mapToName: 'emailAddress' },
    ],
    optionalFields: [
      { fieldName: 'score', valueType: 'INT' },
      { mapToName: 'tier', valueType: 'STRING' },
    ],
  },
  zoho: {
    objectName: 'Leads',
    requiredFields: [{ fieldName: 'Last_Name', mapToName: 'lastName' }],
    optionalFields: [{ fieldName: 'Company' }],
  },
} as const;

/** Creates an integration with the object `people`, and its installation for a group. Returns the installation's id. */
export async function installPeople(
  app: TestApp,
  tenant: Tenant,
  { integration: name, provider, groupRef, read, write, config }: People,
): Promise<string> {
  const fields = FIELDS[provider];
  const { objectName } = fields;
  await integrate(app, tenant, {
    name,
    provider,
    read: { objects: [{ ...fields, mapToName: 'people', destination: 'records', ...read }] },
    write: { objects: [{ objectName, inheritMapping: true, ...write }] },
  } as { name: string; provider: string });
  return installFor(tenant, { integration: name, provider, groupRef, config });
}

async function installFor(
  tenant: Tenant,
  { integration, provider, groupRef, config }: People,
): Promise<string> {
  const { objectName, optionalFields } = FIELDS[provider];
  const key = provider === 'sandbox' ? 'sandbox-key' : TOKEN;
  const providerMetadata =
    provider === 'zoho' ? { zoho_token_domain: 'accounts.zoho.eu' } : undefined;
  await generateConnection(tenant, { provider, groupRef, apiKey: key, providerMetadata });
  const selectedFields = optionalFields.flatMap((field) =>
    'fieldName' in field ? field.fieldName : [],
  );
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: integration,
    groupRef,
    config: config ?? {
      read: [{ objectName, selectedFields }],
      write: [{ objectName, deletionEnabled: true }],
    },
  };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, { input });
  return createInstallation.installation.id;
}

/** A tenant with both integrations and installations. */
export async function peopleTenant(app: TestApp): Promise<Tenant> {
  const tenant = await app.tenant();
  await installPeople(app, tenant, { integration: 'crm', provider: 'sandbox', groupRef: 'acme' });
  await installPeople(app, tenant, { integration: 'leads', provider: 'zoho', groupRef: 'globex' });
  return tenant;
}
