import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { POLLING, startReadJobs } from '../../../support/fixtures/reads.ts';
import { listIssuePositions } from '../../../support/rest/rest-client.ts';
import { createRestInstallation } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();
const readHostApp = await getSharedApp({ env: { READ_URL: 'http://reads.test' } });

test('triggers a read, and reports its progress in an operation', async () => {
  const rest = await createRestInstallation(app);
  await using _jobs = await startReadJobs(app);
  const response = await rest.post(`${rest.integrationPath}/objects/contacts:read`, {
    groupRef: 'acme',
    mode: 'async',
    sinceTimestamp: '2026-01-31T12:00:00Z',
  });
  expect(response).toEqual({ operationId: expect.stringMatching(/^opr_/) });
  const path = `${rest.base}/operations/${response.operationId}`;
  await expect.poll(async () => (await rest.get(path)).status, POLLING).toBe('success');
  const operation = await rest.get(path);
  expect(operation).toMatchObject({
    actionType: 'read',
    integrationId: rest.installation.integrationId,
    configId: rest.installation.config.id,
    metadata: {
      objects: ['contacts'],
      progress: {
        installationId: rest.installation.id,
        operationId: response.operationId,
        objectName: 'contacts',
        recordsProcessed: 0,
      },
    },
  });
});

test('pauses and resumes all reads or named objects', async () => {
  const rest = await createRestInstallation(app);
  const fetchObject = async () => (await rest.get(rest.installationPath)).objects[0];
  expect(await rest.post(`${rest.installationPath}:pause`, undefined, 204)).toBe('');
  expect(await fetchObject()).toMatchObject({ paused: true });
  const body = { objects: ['contacts'], note: 'moved' };
  await rest.post(`${rest.installationPath}:unpause`, body, 204);
  expect(await fetchObject()).toMatchObject({
    paused: false,
    pauseNote: 'moved',
    nextReadTime: expect.any(String),
  });
  await rest.post(`${rest.installationPath}:pause`, { ...body, note: 'moving' }, 204);
  expect(await fetchObject()).toMatchObject({ paused: true, pauseNote: 'moving' });
});

test('reports invalid members at their positions', async () => {
  const rest = await createRestInstallation(app);
  const fetchIssueNames = async (path: string, body: unknown) =>
    listIssuePositions(await rest.expectRefusal('POST', path, body));
  const times = { sinceTimestamp: 'yesterday', untilTimestamp: '2026-01-31T12:00:00Z' };
  const readPath = `${rest.integrationPath}/objects/nothing:read`;
  expect(await fetchIssueNames(readPath, { groupRef: 'acme', mode: 'sync', ...times })).toEqual(
    expect.arrayContaining(['body mode', 'body sinceTimestamp']),
  );
  expect(await fetchIssueNames(readPath, { groupRef: 'unknown' })).toEqual(
    expect.arrayContaining(['path objectName', 'body groupRef']),
  );
  for (const verb of ['pause', 'unpause']) {
    const path = `${rest.installationPath}:${verb}`;
    expect(await fetchIssueNames(path, { objects: ['contacts', 'nothing'] })).toEqual([
      'body objects[1]',
    ]);
  }
});

test("requires reads:control and an installation of the caller's project", async () => {
  const [rest, otherTenant] = [
    await createRestInstallation(app),
    await createRestInstallation(app),
  ];
  const readPath = `${rest.integrationPath}/objects/contacts:read`;
  const paths = [readPath, `${rest.installationPath}:pause`, `${rest.installationPath}:unpause`];
  const createBody = (path: string) => (path === readPath ? { groupRef: 'acme' } : {});
  const readClient = await rest.withScopes('read');
  const controlClient = await rest.withScopes('reads:control');
  for (const path of paths) {
    expect(await otherTenant.expectRefusal('POST', path, createBody(path))).toMatchObject({
      status: 404,
    });
    const refusal = await readClient.expectRefusal('POST', path, createBody(path));
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('reads:control');
    await controlClient.post(path, createBody(path), path === readPath ? 201 : 204);
  }
});

test('returns 204 for deliverResults of an object that the group reads, and otherwise 404', async () => {
  const rest = await createRestInstallation(app);
  const createPath = (object: string) => `${rest.integrationPath}/objects/${object}:deliverResults`;
  const body = { groupRef: 'acme', pages: 1 };
  expect(await rest.post(createPath('contacts'), body, 204)).toBe('');
  expect(await rest.expectRefusal('POST', createPath('deals'), body)).toMatchObject({
    status: 404,
  });
  const unknownGroup = { groupRef: 'unknown' };
  expect(await rest.expectRefusal('POST', createPath('contacts'), unknownGroup)).toMatchObject({
    status: 404,
  });
  const reader = await rest.withScopes('read');
  expect(await reader.expectRefusal('POST', createPath('contacts'), body)).toMatchObject({
    status: 403,
  });
});

/** Triggers a read of contacts on the host, without `:read` in the path. */
async function readWithoutVerb(host: string) {
  const rest = await createRestInstallation(readHostApp);
  return readHostApp.app.rest.inject({
    method: 'POST',
    url: `/v1${rest.integrationPath}/objects/contacts`,
    headers: { host, 'x-api-key': rest.tenant.apiKey },
    payload: { groupRef: 'acme', mode: 'async', sinceTimestamp: '2026-01-01T00:00:00Z' },
  });
}

test('accepts POST without `:read` on the read host', async () => {
  const response = await readWithoutVerb('reads.test');
  expect(response.statusCode).toBe(201);
  expect(response.json()).toEqual({ operationId: expect.stringMatching(/^opr_/) });
});

test('suggests `:read` for a POST without it on another host', async () => {
  const response = await readWithoutVerb('writes.test');
  expect(response.statusCode).toBe(400);
  expect(response.json().detail).toContain(':read');
});

test('serves other paths on the read host', async () => {
  const rest = await createRestInstallation(readHostApp);
  const response = await readHostApp.app.rest.inject({
    url: `/v1${rest.integrationPath}`,
    headers: { host: 'reads.test', 'x-api-key': rest.tenant.apiKey },
  });
  expect(response.statusCode).toBe(200);
});
