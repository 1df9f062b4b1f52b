import { expect, test, vi } from 'vitest';
import { ProjectCatalogs } from '../../../../src/domain/connections/provider/project-catalogs.ts';
import { getSharedApp } from '../../../support/app.ts';
import {
  createDocument,
  createProvider,
  UPDATE_PROVIDER,
} from '../../../support/inputs/custom-providers.ts';

const app = await getSharedApp();
const { services } = app.app;

/** A test of the state, because the time in which it must appear depends on the machine. */
const POLLING = { timeout: 20_000, interval: 50 };

test('finds providers that another process has created and changed', async () => {
  const tenant = await app.createTenant();
  // Another process shares only the database.
  const others = new ProjectCatalogs(services.catalogs.builtIn.providers, services);
  const findName = async () =>
    (await others.getOfProject(tenant.projectId)).find('x-acme')?.displayName ?? null;
  expect(await findName()).toBeNull();
  const { id } = await createProvider(tenant, createDocument('https://api.acme.example'));
  await vi.waitFor(async () => expect(await findName()).toBe('Acme'), POLLING);
  const document = createDocument('https://api.acme.example', { displayName: 'Acme Two' });
  await tenant.query(UPDATE_PROVIDER, {
    input: { projectIdOrName: tenant.projectId, customProviderId: id, document },
  });
  await vi.waitFor(async () => expect(await findName()).toBe('Acme Two'), POLLING);
});
