/** A customer chooses events of an object. The choices are sent over REST, as the connect page sends them. */
import { beforeAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertDestination } from '../../support/fixtures/integrations.ts';
import { createSandboxClient, installSubscription } from '../../support/fixtures/subscriptions.ts';
import { createRestClient } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const crm = createSandboxClient(app.app.sandbox.url);
beforeAll(async () => void (await app.app.start()));

const createEmail = () => `${crypto.randomUUID()}@example.test`;

/** Returns functions that change the installation's choices for contacts. */
function createChoiceClient(tenant: Tenant, installationId: string) {
  const rest = createRestClient(app, { 'x-api-key': tenant.apiKey });
  const path = `/projects/${tenant.projectId}/integrations/crm/installations/${installationId}`;
  const createMaskedBody = (contacts: object) => ({
    updateMask: ['config.content.subscribe.objects.contacts'],
    installation: { config: { content: { subscribe: { objects: { contacts } } } } },
  });
  return {
    rest,
    /** Changes the choices, and returns the stored choices. */
    async choose(contacts: object) {
      const { config } = await rest.patch(path, createMaskedBody(contacts));
      return config.content.subscribe.objects.contacts;
    },
    /** Expects a refusal, and returns the name and the detail of each issue. */
    async refuseChoice(contacts: object) {
      const { issues = [] } = await rest.expectRefusal('PATCH', path, createMaskedBody(contacts));
      return issues.map((issue) => [
        issue.name.replace('installation.config.content.subscribe.objects.contacts.', ''),
        issue.detail,
      ]);
    },
  };
}

test('delivers only the events that the customer enabled, with the fields of the config as watched fields', async () => {
  const tenant = await app.createTenant();
  const installation = await installSubscription(app, tenant);
  const { choose } = createChoiceClient(tenant, installation.id);
  const choices = {
    objectName: 'contacts',
    destination: 'records',
    inheritFieldsAndMappings: true,
    createEvent: { enabled: 'never' },
    updateEvent: { enabled: 'always', requiredWatchFields: ['lastname'] },
  };
  expect(await choose(choices)).toEqual(choices);
  await installation.waitUntilActive();
  expect(await installation.listSubscriptions()).toMatchObject([{ kinds: ['UPDATE', 'DELETE'] }]);
  const id = await crm.create({ email: createEmail() });
  await crm.update(id, { firstname: 'Ada' });
  await crm.update(id, { lastname: 'Lovelace' });
  await crm.delete(id);
  await installation.waitForEntries(2);
  expect(
    installation
      .listEntries()
      .filter((entry) => entry.id === id)
      .map(({ subscribeEventType, fieldsUpdated }) => [subscribeEventType, fieldsUpdated]),
  ).toEqual([
    ['update', ['lastname']],
    ['delete', undefined],
  ]);
});

test("keeps the integration's choices for members that the config omits", async () => {
  const tenant = await app.createTenant();
  const installation = await installSubscription(app, tenant);
  const { choose } = createChoiceClient(tenant, installation.id);
  expect(await choose({ deleteEvent: { enabled: 'never' } })).toEqual({
    objectName: 'contacts',
    destination: 'records',
    inheritFieldsAndMappings: true,
    deleteEvent: { enabled: 'never' },
  });
  expect(await installation.listSubscriptions()).toMatchObject([{ kinds: ['CREATE', 'UPDATE'] }]);
});

test('delivers events to the destination that the config names, and refuses to delete that destination', async () => {
  const tenant = await app.createTenant();
  const installation = await installSubscription(app, tenant);
  const { id: destinationId } = await insertDestination(app, tenant, 'elsewhere');
  const { rest, choose } = createChoiceClient(tenant, installation.id);
  await choose({ destination: 'elsewhere' });
  await installation.waitUntilActive();
  await crm.create({ email: createEmail() });
  const { prisma } = app.app.services.database;
  await expect.poll(() => prisma.delivery.count({ where: { destinationId } })).toBeGreaterThan(0);
  const refusal = await rest.expectRefusal(
    'DELETE',
    `/projects/${tenant.projectId}/destinations/${destinationId}`,
  );
  expect(refusal).toMatchObject({ detail: expect.stringContaining(installation.id) });
});

test('refuses a config that adds events or contradicts the integration', async () => {
  const tenant = await app.createTenant();
  const installation = await installSubscription(app, tenant, { subscribe: { deleteEvent: null } });
  const { refuseChoice } = createChoiceClient(tenant, installation.id);
  expect(await refuseChoice({ deleteEvent: { enabled: 'always' } })).toEqual([
    ['deleteEvent.enabled', expect.stringContaining('does not subscribe to it for contacts')],
  ]);
  expect(await refuseChoice({ inheritFieldsAndMappings: false })).toEqual([
    ['inheritFieldsAndMappings', 'must be true, as in the integration.'],
  ]);
  expect(await refuseChoice({ otherEvents: ['object.merged'] })).toEqual([
    ['otherEvents[0]', 'is not an event that the integration has for contacts.'],
  ]);
  expect(await refuseChoice({ destination: 'nowhere' })).toEqual([
    ['destination', 'is not a destination of the project.'],
  ]);
  const watchAll = { enabled: 'always', watchFieldsAuto: 'all', requiredWatchFields: ['email'] };
  expect(await refuseChoice({ updateEvent: watchAll })).toEqual([
    [
      'updateEvent.requiredWatchFields',
      'must not be combined with installation.config.content.subscribe.objects.contacts.updateEvent.watchFieldsAuto.',
    ],
  ]);
  const quotaOptions = { providerOptions: { quotaOptimization: { enabled: true } } };
  expect(await refuseChoice(quotaOptions)).toEqual([
    ['providerOptions.quotaOptimization.enabled', expect.stringContaining('must be false')],
  ]);
});
