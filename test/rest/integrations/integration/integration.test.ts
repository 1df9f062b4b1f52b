import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createIntegrationContent, toRevision } from '../../../support/fixtures/integrations.ts';
import { listIssuePositions } from '../../../support/rest/rest-client.ts';
import {
  createRestInstallation,
  createRestIntegration,
  createRestTenantWithDestination,
} from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();

test('creates an integration without a response body, and finds it by Location, name and id', async () => {
  const rest = await createRestTenantWithDestination(app);
  const content = createIntegrationContent('crm', { proxy: { enabled: true } });
  const latestRevision = toRevision(content);
  const body = { name: 'crm', provider: 'sandbox', latestRevision };
  const creation = await rest.request('POST', `${rest.base}/integrations`, body);
  expect([creation.status, creation.body]).toEqual([201, '']);
  const location = creation.headers.location as string;
  expect(location).toMatch(/^\/v1\/projects\/[^/]+\/integrations\/int_\w{26}$/);
  const integration = await rest.get(location.slice('/v1'.length));
  expect(integration).toMatchObject({ name: 'crm', provider: 'sandbox', latestRevision });
  expect(integration).not.toHaveProperty('updateTime');
  expect(JSON.stringify(integration)).not.toContain('null');
  expect(await rest.get(`${rest.base}/integrations/crm`)).toEqual(integration);
  expect(await rest.get(`${rest.base}/integrations`)).toEqual([integration]);
  expect(await rest.get(`${rest.base}/integrations?provider=hubspot`)).toEqual([]);
});

test('returns all content as it was written', async () => {
  const rest = await createRestTenantWithDestination(app);
  const [contacts] = createIntegrationContent().read.objects;
  const objects = [
    {
      ...contacts,
      mapToName: 'people',
      mapToDisplayName: 'People',
      requiredFields: [{ fieldName: 'email', mapToName: 'mail', mapToDisplayName: 'Mail' }],
      optionalFieldsAuto: 'all',
      delivery: { mode: 'auto', pageSize: 100 },
      enabled: 'always',
    },
  ];
  const content = createIntegrationContent('whole', {
    displayName: 'Whole',
    module: 'root',
    read: { objects },
    write: {
      objects: [
        { objectName: 'contacts', inheritMapping: true, valueDefaults: { allowAnyFields: true } },
      ],
    },
    proxy: { enabled: true, useModule: false },
    subscribe: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'records',
          inheritFieldsAndMapping: true,
          createEvent: { enabled: 'always' },
          updateEvent: { enabled: 'always', requiredWatchFields: ['email'] },
          deleteEvent: { enabled: 'always' },
          associationChangeEvent: { enabled: 'always', includeFullRecords: true },
          otherEvents: ['object.merged'],
        },
      ],
    },
  });
  const path = await createRestIntegration(rest, content);
  expect((await rest.get(path)).latestRevision.content).toEqual(content);
});

test('returns an empty schedule for reads and watches without one', async () => {
  const rest = await createRestTenantWithDestination(app);
  const [contacts] = createIntegrationContent().read.objects;
  const { schedule: _schedule, ...unscheduled } = { schedule: undefined, ...contacts };
  const allObjects = { fieldCreated: { enabled: 'always' } };
  const watchSchema = { destination: 'records', allObjects };
  const content = createIntegrationContent('crm', {
    read: { objects: [unscheduled] },
    watchSchema,
  });
  const path = await createRestIntegration(rest, content);
  expect((await rest.get(path)).latestRevision.content).toMatchObject({
    read: { objects: [{ schedule: '' }] },
    watchSchema: { schedule: '', allObjects },
  });
});

test('reports invalid members at their positions, for the form and for the rules', async () => {
  const rest = await createRestTenantWithDestination(app);
  const fetchIssues = async (body: unknown) =>
    listIssuePositions(await rest.expectRefusal('POST', `${rest.base}/integrations`, body));
  const [contacts] = createIntegrationContent().read.objects;
  const createRevision = (object: object) =>
    toRevision(
      createIntegrationContent('crm', { read: { objects: [{ ...contacts, ...object }] } }),
    );
  const frequentRevision = createRevision({ schedule: '* * * * *' });
  expect(
    await fetchIssues({ name: 'N O', provider: 'unknown', latestRevision: frequentRevision }),
  ).toEqual(['body name', 'body latestRevision.content.read.objects[0].schedule']);
  const misdirectedRevision = createRevision({ destination: 'nowhere' });
  expect(
    await fetchIssues({ name: 'crm', provider: 'unknown', latestRevision: misdirectedRevision }),
  ).toEqual(
    expect.arrayContaining([
      'body provider',
      'body latestRevision.content.read.objects[0].destination',
    ]),
  );
  expect(await fetchIssues({ name: 1, latestRevision: { content: { reed: {} } } })).toEqual(
    expect.arrayContaining(['body name', 'body provider', 'body latestRevision.content.reed']),
  );
});

test('returns 409 for a used name, and deletes an integration with its installations', async () => {
  const rest = await createRestInstallation(app);
  const body = {
    name: 'crm',
    provider: 'sandbox',
    latestRevision: toRevision(createIntegrationContent()),
  };
  const refusal = await rest.expectRefusal('POST', `${rest.base}/integrations`, body);
  expect(refusal).toMatchObject({ status: 409, title: 'Conflict' });
  await rest.delete(rest.integrationPath);
  expect(await rest.expectRefusal('GET', rest.integrationPath)).toMatchObject({ status: 404 });
  expect(await rest.get(`${rest.base}/installations`)).toEqual([]);
});

test('uses a new revision immediately, and keeps the previous one readable', async () => {
  const rest = await createRestTenantWithDestination(app);
  const path = await createRestIntegration(rest);
  const { latestRevision: firstRevision } = await rest.get(path);
  const revision = toRevision(createIntegrationContent('crm', { displayName: 'CRM' }));
  const creation = await rest.request('POST', `${path}/revisions`, { revision });
  expect([creation.status, creation.body]).toEqual([201, '']);
  const { latestRevision, updateTime } = await rest.get(path);
  expect(latestRevision).toMatchObject(revision);
  expect(updateTime).toEqual(expect.any(String));
  expect(await rest.get(creation.headers.location?.slice('/v1'.length) ?? '')).toEqual(
    latestRevision,
  );
  expect(await rest.get(`${path}/revisions`)).toEqual([latestRevision, firstRevision]);
  expect(await rest.get(`${path}/revisions/${firstRevision.id}`)).toEqual(firstRevision);

  const otherPath = await createRestIntegration(rest, createIntegrationContent('other'));
  expect(
    await rest.expectRefusal('GET', `${otherPath}/revisions/${firstRevision.id}`),
  ).toMatchObject({ status: 404 });
});

test('requires destructive=true for a revision that drops a read object', async () => {
  const rest = await createRestInstallation(app);
  const revision = toRevision(
    createIntegrationContent('crm', {
      read: undefined,
      write: { objects: [{ objectName: 'contacts' }] },
    }),
  );
  const path = `${rest.integrationPath}/revisions`;
  expect(await rest.expectRefusal('POST', path, { revision })).toMatchObject({ status: 409 });
  await rest.post(`${path}?destructive=true`, { revision });
  const refusal = await rest.expectRefusal('POST', `${path}?destructive=yes`, { revision: {} });
  expect(listIssuePositions(refusal)).toEqual(
    expect.arrayContaining(['query destructive', 'body revision.content']),
  );
});

test("returns 404 for another tenant's integrations, and 403 without the scope", async () => {
  const [rest, otherTenant] = [
    await createRestTenantWithDestination(app),
    await createRestTenantWithDestination(app),
  ];
  const path = await createRestIntegration(rest);
  const { id, latestRevision } = await rest.get(path);
  for (const base of [rest.base, otherTenant.base]) {
    for (const [method, end] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/revisions'],
      ['GET', `/revisions/${latestRevision.id}`],
    ] as const) {
      const refusal = await otherTenant.expectRefusal(method, `${base}/integrations/${id}${end}`);
      expect(refusal.status).toBe(404);
    }
  }
  const reader = await rest.withScopes('read');
  const body = {
    name: 'x',
    provider: 'sandbox',
    latestRevision: toRevision(createIntegrationContent('x')),
  };
  for (const refusal of [
    await reader.expectRefusal('POST', `${rest.base}/integrations`, body),
    await reader.expectRefusal('POST', `${path}/revisions`, { revision: body.latestRevision }),
    await reader.expectRefusal('DELETE', path),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('integrations:write');
  }
});
