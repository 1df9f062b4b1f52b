/** A project with the object `people` at test servers: the sandbox for the group `acme`, and Zoho for `globex`. */
import { afterAll } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { zoho as zohoDeclaration } from '../../../src/providers/declared/crm/zoho.ts';
import { sandboxDeskProvider } from '../../../src/providers/sandbox/desk-provider.ts';
import { sandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { sharedApp, type Tenant, type TestApp } from '../app.ts';
import { createClient, type GraphqlClient } from '../graphql-client.ts';
import { startSandbox, type TestSandbox } from '../providers/sandbox.ts';
import { startVendorServer, type VendorServer } from '../wire/vendor-server.ts';
import { zoho } from '../wire/vendors/crm/zoho-wire.ts';
import { TOKEN } from '../wire/wire-format.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, integrate } from './integrations.ts';

export interface TypedApi extends TestApp {
  sandbox: TestSandbox;
  zoho: VendorServer;
}

/** Starts the app with the test servers of the sandbox and Zoho. All tests of a file share it. */
export async function typedApi(env: Record<string, string> = {}): Promise<TypedApi> {
  const sandbox = await startSandbox();
  const zohoServer = await startVendorServer(zoho.fixture);
  const app = await sharedApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...env },
    providers: [
      sandboxProvider(() => sandbox.url),
      sandboxDeskProvider(() => sandbox.url),
      createZohoProvider(zohoServer.url),
    ],
  });
  afterAll(async () => {
    for (const server of [sandbox, zohoServer]) await server[Symbol.asyncDispose]();
  });
  return { ...app, sandbox, zoho: zohoServer };
}

/** The declared provider at a test server, which accepts a key as its Authorization header. */
function createZohoProvider(baseUrl: string): Provider {
  return createDeclarativeProvider({
    ...zohoDeclaration,
    baseUrl,
    modules: undefined,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    healthCheck: undefined,
    workspaceRequired: undefined,
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
  provider: keyof typeof FIELDS;
  groupRef: string;
  /** Members of the read object, which replace the default ones. */
  read?: object;
  /** Members of the write object besides its name. */
  write?: object;
  config?: object;
}

interface ObjectFields {
  objectName: string;
  requiredFields: object[];
  optionalFields: { fieldName?: string }[];
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
      { mapToName: 'tier', valueType: 'STRING' } as object,
    ],
  },
  sandboxDesk: { objectName: 'people', requiredFields: [], optionalFields: [] },
  zoho: {
    objectName: 'Leads',
    requiredFields: [{ fieldName: 'Last_Name', mapToName: 'lastName' }],
    optionalFields: [{ fieldName: 'Company' }],
  },
} satisfies Record<string, ObjectFields>;

/** Creates an integration with the object `people`, and its installation for a group. Returns the installation's id. */
export async function installPeople(
  app: TestApp,
  tenant: Tenant,
  { integration: name, provider, groupRef, read, write, config }: People,
): Promise<string> {
  const fields: ObjectFields = FIELDS[provider];
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
  const { objectName, optionalFields }: ObjectFields = FIELDS[provider];
  const key = provider.startsWith('sandbox') ? 'sandbox-key' : TOKEN;
  const providerMetadata =
    provider === 'zoho' ? { zoho_token_domain: 'accounts.zoho.eu' } : undefined;
  await generateConnection(tenant, { provider, groupRef, apiKey: key, providerMetadata });
  const selectedFields = optionalFields.flatMap(({ fieldName }) => fieldName ?? []);
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
