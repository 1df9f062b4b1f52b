import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { createIntegrationContent } from '../../../support/fixtures/integrations.ts';
import { listIssuePositions } from '../../../support/rest/rest-client.ts';
import {
  createRestInstallation,
  createRestIntegration,
} from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();

test('creates an installation with everything that the integration has, and returns it', async () => {
  const rest = await createRestInstallation(app);
  const { installation, tenant } = rest;
  expect(installation).toMatchObject({
    id: expect.stringMatching(/^ins_/),
    projectId: tenant.projectId,
    healthStatus: 'healthy',
    group: { groupRef: 'acme', groupName: 'acme' },
    connection: { id: rest.connectionId, provider: 'sandbox', consumer: { consumerRef: 'ann' } },
    config: {
      id: expect.stringMatching(/^cfg_/),
      content: {
        provider: 'sandbox',
        read: {
          objects: {
            contacts: {
              objectName: 'contacts',
              selectedFields: { email: true },
              selectedFieldMappings: {},
              disabled: false,
            },
          },
        },
        write: {
          objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: false } } },
        },
      },
      createdBy: `api:${tenant.apiKeyId}`,
      revisionId: expect.stringMatching(/^rev_/),
    },
    objects: [{ objectName: 'contacts', paused: false, backfillDone: false, recordsRead: 0 }],
    createdBy: `api:${tenant.apiKeyId}`,
  });
  expect(installation).not.toHaveProperty('lastOperationStatus');
  expect(await rest.get(rest.installationPath)).toEqual(installation);
  for (const path of [rest.base, rest.integrationPath]) {
    expect(await rest.get(`${path}/installations`)).toEqual([installation]);
    expect(await rest.get(`${path}/installations?groupRef=acme`)).toEqual([installation]);
    expect(await rest.get(`${path}/installations?groupRef=other`)).toEqual([]);
  }
});

test('updates the whole config or the connection, as the mask says', async () => {
  const rest = await createRestInstallation(app);
  const backfill = { defaultPeriod: { days: 3 } };
  const content = { read: { objects: { contacts: { objectName: 'contacts', backfill } } } };
  const changed = await rest.patch(rest.installationPath, {
    updateMask: ['config.content'],
    installation: { config: { content }, connectionId: 'con_ignored' },
  });
  expect(changed.config.content).toMatchObject(content);
  expect(changed.config.content.write).toEqual({ objects: {} });
  expect(changed.config.id).not.toBe(rest.installation.config.id);
  const { id: connectionId } = await generateConnection(rest.tenant, {
    apiKey: 'sandbox-key',
    consumerRef: 'bob',
  });
  const moved = await rest.patch(rest.installationPath, {
    updateMask: ['connectionId'],
    installation: { connectionId },
  });
  expect(moved.config).toEqual(changed.config);
  expect([changed.connection.id, moved.connection.id]).toEqual([rest.connectionId, connectionId]);
  expect(moved.updateTime).toEqual(expect.any(String));
});

test('reports invalid members at their positions', async () => {
  const rest = await createRestInstallation(app);
  const objects = { nothing: { schedule: '* * * * *' } };
  const config = { content: { read: { objects } } };
  const getCreateRefusal = (chosen: object) =>
    rest.expectRefusal('POST', `${rest.integrationPath}/installations`, {
      groupRef: 'unknown',
      config: { content: { read: { objects: chosen } } },
    });
  expect(listIssuePositions(await getCreateRefusal(objects))).toEqual([
    'body config.content.read.objects.nothing.schedule',
  ]);
  expect(listIssuePositions(await getCreateRefusal({ nothing: {} }))).toEqual(
    expect.arrayContaining(['body groupRef', 'body config.content.read.objects.nothing']),
  );
  const changed = await rest.expectRefusal('PATCH', rest.installationPath, {
    updateMask: ['config'],
    installation: { config },
  });
  expect(listIssuePositions(changed)).toEqual(
    expect.arrayContaining(['body installation.config.content.read.objects.nothing.schedule']),
  );
  const repeated = await rest.expectRefusal('POST', `${rest.integrationPath}/installations`, {
    groupRef: 'acme',
  });
  expect(repeated).toMatchObject({ status: 409 });
});

test('deletes an installation, and finds it only in its own integration', async () => {
  const rest = await createRestInstallation(app);
  const otherPath = await createRestIntegration(rest, createIntegrationContent('other'));
  const foreignPath = `${otherPath}/installations/${rest.installation.id}`;
  const change = { updateMask: ['config'], installation: { config: { content: {} } } };
  expect(await rest.expectRefusal('GET', foreignPath)).toMatchObject({ status: 404 });
  expect(await rest.expectRefusal('PATCH', foreignPath, change)).toMatchObject({ status: 404 });
  expect(await rest.expectRefusal('DELETE', foreignPath)).toMatchObject({ status: 404 });
  await rest.delete(rest.installationPath);
  expect(await rest.expectRefusal('GET', rest.installationPath)).toMatchObject({ status: 404 });
});

test("returns 404 for another tenant's installations, and 403 without the scope", async () => {
  const [rest, otherTenant] = [
    await createRestInstallation(app),
    await createRestInstallation(app),
  ];
  const change = { updateMask: ['config'], installation: { config: { content: {} } } };
  const foreign = `${otherTenant.integrationPath}/installations/${rest.installation.id}`;
  for (const path of [rest.installationPath, foreign]) {
    expect(await otherTenant.expectRefusal('GET', path)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('PATCH', path, change)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('DELETE', path)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('GET', `${path}/operations`)).toMatchObject({
      status: 404,
    });
    expect(await otherTenant.expectRefusal('POST', `${path}:pause`)).toMatchObject({ status: 404 });
  }
  const reader = await rest.withScopes('read');
  const body = { groupRef: 'acme' };
  for (const refusal of [
    await reader.expectRefusal('POST', `${rest.integrationPath}/installations`, body),
    await reader.expectRefusal('PATCH', rest.installationPath, change),
    await reader.expectRefusal('DELETE', rest.installationPath),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('installations:write');
  }
});

test('lists groups and consumers after their first connection', async () => {
  const rest = await createRestInstallation(app);
  const { projectId } = rest.tenant;
  const [group, ...moreGroups] = await rest.get(`${rest.base}/groups`);
  expect(group).toMatchObject({ groupRef: 'acme', groupName: 'acme', projectId });
  const [consumer, ...moreConsumers] = await rest.get(`${rest.base}/consumers`);
  expect(consumer).toMatchObject({ consumerRef: 'ann', consumerName: 'ann', projectId });
  expect([...moreGroups, ...moreConsumers]).toEqual([]);
});
