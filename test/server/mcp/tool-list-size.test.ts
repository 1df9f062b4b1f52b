/**
 * Tests that the list of tools fits in an agent's context, however many objects the customer has.
 *
 * @module-tag all/rows
 */
import { expect, test } from 'vitest';
import { createAgent } from '../../support/fixtures/agents.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, createIntegration } from '../../support/fixtures/integrations.ts';
import { startTypedApi } from '../../support/fixtures/typed-api.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';

const INTEGRATION_COUNT = 67;
const OBJECT_NAMES = ['contacts', 'companies', 'deals'];
const OBJECT_COUNT = INTEGRATION_COUNT * OBJECT_NAMES.length;
const TOKENS_MAX = 2_000;
/** Tokenizers of models need fewer tokens than one for each 3 characters of JSON. */
const CHARACTERS_PER_TOKEN = 3;

const app = await startTypedApi();

test('lists the tools in fewer than 2,000 tokens for 201 objects', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { groupRef: 'acme', apiKey: 'sandbox-key' });
  for (let index = 0; index < INTEGRATION_COUNT; index += 1) {
    const name = `crm-${index}`;
    const objects = OBJECT_NAMES.map((objectName) => ({
      objectName,
      mapToName: `${objectName}_${index}`,
      destination: 'records',
      optionalFieldsAuto: 'ALL',
    }));
    const content = { name, provider: 'sandbox', read: { objects } };
    await createIntegration(app, tenant, content);
    const input = {
      projectIdOrName: tenant.projectId,
      integrationIdOrName: name,
      groupRef: 'acme',
      config: { read: OBJECT_NAMES.map((objectName) => ({ objectName })) },
    };
    await tenant.query(CREATE_INSTALLATION, { input });
  }
  const { client, call } = await connectMcp(app, await createAgent(app, tenant));
  const { data, text } = await call('search_objects');
  expect(data).toMatchObject({ total: OBJECT_COUNT, objects: expect.any(Array) });
  expect(data.objects).toHaveLength(20);
  expect(text).toContain('Objects: 20 of 201. Search by words to see others.');
  const searchResult = await call('search_objects', { words: 'contacts_50' });
  expect(searchResult.data.objects[0].name).toBe('contacts_50');
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools).length / CHARACTERS_PER_TOKEN).toBeLessThan(TOKENS_MAX);
});
