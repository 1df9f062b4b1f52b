/** Tests that a session has a tool for each of its pinned writes. */
import { expect, test } from 'vitest';
import { namePinnedTools } from '../../../src/domain/agents/agent-contract.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { createPeopleTenant, startTypedApi } from '../../support/fixtures/typed-api.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';

const app = await startTypedApi();
const tenant = await createPeopleTenant(app);
const provider = createSandboxClient(app.sandbox.url);
const pinnedTools = ['CREATE', 'UPDATE', 'DELETE'].map((type) => ({ type, objectName: 'people' }));
const { client, call } = await connectMcp(app, await createAgent(app, tenant, { pinnedTools }));

test('lists a tool for each pinned write, without texts of the provider', async () => {
  const { tools } = await client.listTools();
  const [create, update, deletion] = tools.slice(7);
  expect([create?.name, update?.name, deletion?.name]).toEqual([
    'create_people',
    'update_people',
    'delete_people',
  ]);
  const { create: described } = (await call('describe_object', { objectName: 'people' })).data;
  const values = create?.inputSchema.properties?.values as typeof described;
  expect(Object.keys(values.properties)).toEqual(Object.keys(described.properties));
  expect(values).toMatchObject({ required: ['emailAddress'], additionalProperties: false });
  expect(JSON.stringify(described)).toContain('Email');
  expect(JSON.stringify(tools)).not.toMatch(/Email|Contacts/);
  expect(create?.inputSchema.required).toEqual(['values']);
  expect(update?.inputSchema.required).toEqual(['recordId', 'values']);
  expect(Object.keys(deletion?.inputSchema.properties ?? {})).toEqual(['recordId', 'reason']);
});

test('proposes the write of its tool', async () => {
  const values = { lastName: 'Hopper', emailAddress: 'grace@example.test' };
  expect((await call('create_people', { values })).data).toMatchObject({
    status: 'PENDING',
    type: 'CREATE',
    objectName: 'people',
    fields: { lastName: { before: null, after: 'Hopper' } },
  });
  const recordId = await provider.create({ lastname: 'Hopper', email: 'g@example.test' });
  expect((await call('update_people', { recordId, values: { score: 1 } })).data).toMatchObject({
    type: 'UPDATE',
    recordId,
  });
  expect((await call('delete_people', { recordId, reason: 'Twice.' })).data).toMatchObject({
    type: 'DELETE',
    recordId,
  });
});

test('reports offending arguments', async () => {
  const withUnknownArgument = await call('create_people', {
    values: { nickname: 'x' },
    objectName: 'people',
  });
  expect(withUnknownArgument.data).toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ name: 'objectName' }],
  });
  const withoutRecordId = await call('update_people', { values: { score: 'x' } });
  expect(withoutRecordId.data.issues).toMatchObject([{ name: 'recordId' }]);
  const withInvalidValues = await call('create_people', { values: { score: 'x' } });
  expect(withInvalidValues.data.issues).toMatchObject([
    { name: 'values.emailAddress' },
    { name: 'values.score' },
  ]);
});

test("omits writes that the customer's account does not have", async () => {
  const umbrellaAgent = await createAgent(app, tenant, {
    groupRef: 'umbrella',
    pinnedTools: [{ type: 'CREATE', objectName: 'people' }],
  });
  const umbrella = await connectMcp(app, umbrellaAgent);
  expect((await umbrella.client.listTools()).tools).toHaveLength(7);
  expect((await umbrella.call('create_people', { values: { a: 1 } })).data).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('gives tools names that are safe and distinct', () => {
  const tools = namePinnedTools([
    { type: 'CREATE', objectName: 'Sales Orders' },
    { type: 'CREATE', objectName: 'Sales/Orders' },
    { type: 'DELETE', objectName: 'ücker.__c' },
    { type: 'UPDATE', objectName: 'x'.repeat(256) },
    { type: 'UPDATE', objectName: 'x'.repeat(255) },
  ]);
  expect(tools.map(({ name }) => name)).toEqual([
    'create_Sales_Orders',
    'create_Sales_Orders_2',
    'delete__cker___c',
    `update_${'x'.repeat(57)}`,
    `update_${'x'.repeat(55)}_2`,
  ]);
});
