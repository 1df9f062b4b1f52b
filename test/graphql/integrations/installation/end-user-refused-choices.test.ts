/** Destinations of records and events, which only the builder may choose. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';
import {
  CREATE_INSTALLATION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  insertDestination,
  UPDATE_INSTALLATION,
} from '../../../support/fixtures/integrations.ts';
import { ALL_EVENTS } from '../../../support/fixtures/subscriptions.ts';

const app = await getSharedApp();
const INTEGRATION_CONTENT = createIntegrationContent('crm', {
  subscribe: { objects: [ALL_EVENTS] },
});
const REFUSED_FOR_END_USERS = "can't be changed by end users.";
const chooseContacts = (overrides: object = {}) => [{ objectName: 'contacts', ...overrides }];
const elsewhere = chooseContacts({ destination: 'elsewhere' });

function listIssues(problem: { issues?: { name: string; detail: string }[] }) {
  return problem.issues?.map(({ name, detail }) => `${name} ${detail}`);
}

async function createTenantWithDestinations() {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, INTEGRATION_CONTENT);
  await insertDestination(app, tenant, 'elsewhere');
  return { tenant, integration };
}

test("refuses destinations of records and events in an end user's config", async () => {
  const { tenant } = await createTenantWithDestinations();
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'acme' });
  const user = await createEndUser(app, tenant);
  const key = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  const config = { read: elsewhere, subscribe: elsewhere };
  const { problem } = await user.expectRefusal(CREATE_INSTALLATION, { input: { ...key, config } });
  expect(listIssues(problem)).toEqual([
    `input.config.read[0].destination ${REFUSED_FOR_END_USERS}`,
    `input.config.subscribe[0].destination ${REFUSED_FOR_END_USERS}`,
  ]);
});

test("keeps the builder's destinations in an end user's update", async () => {
  const { tenant, integration } = await createTenantWithDestinations();
  const builderInput = { config: { read: elsewhere, subscribe: elsewhere } };
  const { id } = await connectAndInstall(tenant, integration, builderInput);
  const user = await createEndUser(app, tenant);
  const createUpdate = (config: object) => ({
    input: { projectIdOrName: tenant.projectId, installationId: id, config },
  });
  const listUpdateIssues = async (config: object) =>
    listIssues((await user.expectRefusal(UPDATE_INSTALLATION, createUpdate(config))).problem);

  const changedDestinations = {
    read: chooseContacts(),
    subscribe: chooseContacts({ destination: 'records' }),
  };
  expect(await listUpdateIssues(changedDestinations)).toEqual([
    `input.config.read[0].destination ${REFUSED_FOR_END_USERS}`,
    `input.config.subscribe[0].destination ${REFUSED_FOR_END_USERS}`,
  ]);
  expect(await listUpdateIssues({})).toEqual([
    'input.config.read must keep contacts, because the builder chose its destination. To stop its reads, disable it.',
    'input.config.subscribe must keep contacts, because the builder chose its destination. To stop its events, set them to NEVER.',
  ]);
  const never = { enabled: 'NEVER' };
  const off = { createEvent: never, updateEvent: never, deleteEvent: never, otherEvents: [] };
  const storedConfig = {
    read: chooseContacts({ destination: 'elsewhere', disabled: true }),
    subscribe: chooseContacts({ destination: 'elsewhere', ...off }),
  };
  const { updateInstallation } = await user.query(UPDATE_INSTALLATION, createUpdate(storedConfig));
  expect(updateInstallation.installation.config.read).toMatchObject([
    { destination: 'elsewhere', disabled: true },
  ]);
  // The builder may change them.
  await tenant.query(UPDATE_INSTALLATION, createUpdate({}));
  await user.query(UPDATE_INSTALLATION, createUpdate({ read: chooseContacts() }));
});
