/** A server without the sandbox, on a database with connections to it. */
import { expect, test } from 'vitest';
import { createEmptyDatabase, startGateway } from '../support/backup/copied-databases.ts';
import { installReads, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { createClient, fetchFrom } from '../support/graphql-client.ts';

const PROVIDERS = '{ providers(first: 1000) { nodes { name } } }';

test('omits the sandbox from the providers, and says why a stored connection to it is not read', async () => {
  const database = await createEmptyDatabase();
  const earlier = await startGateway(database);
  const tenant = await earlier.createTenant();
  const { triggerInput } = await installReads(earlier, tenant);
  await earlier[Symbol.asyncDispose]();

  await using app = await startGateway(database, { SANDBOX: 'false' });
  const { url } = await app.app.start();
  expect(app.app.services.sandboxUrl()).toBe('');
  const { query, expectRefusal } = createClient(fetchFrom(url), { 'x-api-key': tenant.apiKey });
  const { providers } = await query(PROVIDERS);
  const names = providers.nodes.map(({ name }: { name: string }) => name);
  expect(names).toContain('hubspot');
  expect(names).not.toContain('sandbox');
  expect(names).not.toContain('sandboxDesk');
  const input = { ...triggerInput, objectName: 'contacts' };
  expect(await expectRefusal(TRIGGER_READ, { input })).toMatchObject({
    problem: { detail: expect.stringContaining('The sandbox is off') },
  });
  const links = await (await fetch(`${url}/`)).json();
  expect(links).not.toHaveProperty('sandbox');
  const startPage = await (await fetch(`${url}/start`)).text();
  expect(startPage).not.toContain('Sandbox');
});
