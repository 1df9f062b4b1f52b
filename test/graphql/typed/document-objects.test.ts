/** Objects of a custom provider are in the typed API, in the contract and in the tools of agents, of its project only. */
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createInstallation, createIntegration } from '../../support/fixtures/integrations.ts';
import { createTypedClient } from '../../support/fixtures/typed-api.ts';
import {
  createDocument,
  createObject,
  createProvider,
} from '../../support/inputs/custom-providers.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const vendor = await startProviderServer(() => ({
  status: 200,
  body: { data: [{ id: '1', title: 'Call', color: 'red' }] },
}));
afterAll(() => vendor[Symbol.asyncDispose]());

/** Creates a tenant with a document of the name `x-acme`, whose notes have the field, and an installation. */
async function installDocument(field: string) {
  const tenant = await app.createTenant();
  const standardFields = { id: 'STRING', [field]: 'STRING' };
  const objects = { notes: createObject('notes', { standardFields }) };
  await createProvider(tenant, createDocument(vendor.url, {}, objects));
  const notes = { objectName: 'notes', mapToName: 'jottings', destination: 'records' };
  await createIntegration(app, tenant, {
    ...{ name: 'crm', provider: 'x-acme' },
    read: { objects: [{ ...notes, requiredFields: [{ fieldName: field }] }] },
    write: { objects: [{ objectName: 'notes', inheritMapping: true }] },
  });
  await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  await createInstallation(tenant);
  return tenant;
}

test('shows the fields of its own document to each project', async () => {
  const tenants = { title: await installDocument('title'), color: await installDocument('color') };
  const values = { title: 'Call', color: 'red' };
  for (const [field, otherField] of [['title', 'color'] as const, ['color', 'title'] as const]) {
    const tenant = tenants[field];
    const client = createTypedClient(app, tenant);
    const createQuery = (name: string) =>
      `query Jottings { jottings(group: "acme") { nodes { id ${name} } } }`;
    const { jottings } = await client.query(createQuery(field));
    expect(jottings.nodes).toMatchObject([{ [field]: values[field] }]);
    const { errors } = await client.request(createQuery(otherField));
    expect(JSON.stringify(errors)).toContain(`Cannot query field \\"${otherField}\\"`);

    const { call } = await connectMcp(app, await createAgent(app, tenant));
    const description = JSON.stringify(await call('describe_object', { objectName: 'jottings' }));
    expect(description).toContain(field);
    expect(description).not.toContain(otherField);
    const records = JSON.stringify(await call('read_records', { objectName: 'jottings' }));
    expect(records).toContain(values[field]);
    expect(records).not.toContain(values[otherField]);
  }
});
