/**
 * Replays the requests of the reference vendor's command line (repository amp-labs/cli, version 1.1.0): equal
 * headers and bodies in the same order, through a real port.
 *
 * @module-tag all/walk
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import type { RestTenant } from '../support/rest/rest-client.ts';
import { createRestTenantWithDestination } from '../support/rest/rest-installation.ts';
import { buildZip } from '../support/rest/zip.ts';

const app = await getSharedApp();

const createManifest = (...objectNames: string[]) => `specVersion: 1.0.0
integrations:
  - name: readCrm
    provider: sandbox
    read:
      objects:${objectNames
        .map(
          (objectName) => `
        - objectName: ${objectName}
          destination: records
          schedule: "0 * * * *"
          optionalFieldsAuto: all`,
        )
        .join('')}
`;

/** Sends requests like `amp` with `--key` and `--project`. */
function createCliClient({ tenant }: Pick<RestTenant, 'tenant'>) {
  const project = `/v1/projects/${tenant.projectName}`;
  const headers = {
    accept: 'application/json',
    'x-amp-client': 'amp-cli',
    'x-amp-client-commit': 'unset',
    'x-amp-client-branch': 'unset',
    'x-amp-client-build-date': 'unset',
    'x-amp-client-version': '1.1.0',
    'x-api-key': tenant.apiKey,
  };
  const send = async (method: string, path: string, body?: object) => {
    const response = await app.fetch(path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, body: text === '' ? null : JSON.parse(text) };
  };
  /** Uploads the manifest, as `amp deploy` does before it deploys it. */
  const upload = async (text: string) => {
    const file = buildZip({ name: 'amp.yaml', text, isStreamed: true });
    const md5 = createHash('md5').update(file).digest('base64');
    const query = new URLSearchParams({ md5 });
    const uploadUrl = await send('GET', `/v1/generate-upload-url?${query}`);
    expect(uploadUrl).toMatchObject({ status: 200, body: { url: expect.any(String) } });
    const { url, bucket, path } = uploadUrl.body;
    const { pathname, search } = new URL(url);
    const uploaded = await app.fetch(pathname + search, {
      method: 'PUT',
      headers: { 'content-md5': md5 },
      body: new Uint8Array(file),
    });
    expect(uploaded.status).toBe(200);
    return `gs://${bucket}${path.startsWith('/') ? path : `/${path}`}`;
  };
  const deploy = (sourceZipUrl: string, query = '') =>
    send('PUT', `${project}/integrations:batch${query}`, { sourceZipUrl });
  return { project, send, upload, deploy };
}

async function createCliTenant() {
  const rest = await createRestTenantWithDestination(app);
  return { ...rest, ...createCliClient(rest) };
}

test('deploy: uploads a manifest and puts its integrations', async () => {
  const { project, send, upload, deploy } = await createCliTenant();
  expect(await send('GET', `${project}/integrations`)).toMatchObject({ status: 200, body: [] });
  const deployment = await deploy(await upload(createManifest('contacts')));
  expect(deployment).toMatchObject({ status: 200, body: [{ name: 'readCrm' }] });

  // The next deployment is compared with the objects of the latest revision.
  const { body } = await send('GET', `${project}/integrations`);
  expect(body).toMatchObject([
    {
      id: expect.any(String),
      name: 'readCrm',
      latestRevision: { content: { read: { objects: [{ objectName: 'contacts' }] } } },
    },
  ]);
  const changedDeployment = await deploy(await upload(createManifest('contacts', 'deals')));
  expect(changedDeployment).toMatchObject({ status: 200, body: [{ name: 'readCrm' }] });
});

test('deploy: pauses reads of dropped objects only if the user confirms', async () => {
  const { project, send, upload, deploy, tenant, get, base } = await createCliTenant();
  await deploy(await upload(createManifest('contacts', 'deals')));
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const [{ id }] = (await send('GET', `${project}/integrations`)).body;
  const installations = `${project}/integrations/${id}/installations`;
  const createdInstallation = await send('POST', installations, { groupRef: 'acme' });
  expect((await send('GET', installations)).body).toMatchObject([
    { group: { groupRef: 'acme', groupName: 'acme' } },
  ]);
  const sourceUrl = await upload(createManifest('deals'));
  const deployment = await deploy(sourceUrl);
  expect(deployment).toMatchObject({
    status: 409,
    type: expect.stringContaining('application/problem+json'),
    body: { detail: expect.stringContaining('contacts') },
  });
  expect((await deploy(sourceUrl, '?destructive=true')).status).toBe(200);
  const { objects } = await get(
    `${base}/integrations/readCrm/installations/${createdInstallation.body.id}`,
  );
  expect(objects).toContainEqual(expect.objectContaining({ objectName: 'contacts', paused: true }));
});

test('deploy: returns the findings of a refused manifest', async () => {
  const { upload, deploy } = await createCliTenant();
  const refusal = await deploy(await upload(createManifest('planets')));
  expect(refusal).toMatchObject({
    status: 400,
    type: expect.stringContaining('application/problem+json'),
    body: {
      issues: [
        { name: 'sourceZipUrl.integrations[0].read.objects[0].objectName', value: 'planets' },
      ],
    },
  });
});

test("returns lists, deletions and the caller's account in the shapes that the command reads", async () => {
  const { project, send, upload, deploy, tenant } = await createCliTenant();
  await deploy(await upload(createManifest('contacts')));
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const [{ id }] = (await send('GET', `${project}/integrations`)).body;
  const installations = `${project}/integrations/${id}/installations`;
  const createdInstallation = await send('POST', installations, { groupRef: 'acme' });
  expect(await send('GET', '/v1/projects')).toMatchObject({
    status: 200,
    body: [{ id: tenant.projectId, name: tenant.projectName, orgId: expect.any(String) }],
  });
  expect(await send('GET', `${project}/destinations`)).toMatchObject({
    status: 200,
    body: [{ name: 'records', type: 'webhook', metadata: { url: expect.any(String) } }],
  });
  expect(await send('GET', `${project}/connections`)).toMatchObject({
    status: 200,
    body: [{ status: 'created', group: { groupRef: 'acme' }, consumer: { consumerRef: 'ann' } }],
  });
  expect(await send('GET', `${project}/provider-apps`)).toMatchObject({ status: 200, body: [] });
  expect(await send('GET', '/v1/providers')).toMatchObject({
    status: 200,
    body: { sandbox: { name: 'sandbox' } },
  });
  expect((await send('DELETE', `${installations}/${createdInstallation.body.id}`)).status).toBe(
    204,
  );
  expect((await send('DELETE', `${project}/integrations/${id}`)).status).toBe(204);
});

test('deploy:destination: updates changed members, and is refused for a new destination', async () => {
  const { project, send } = await createCliTenant();
  const zeroTime = '0001-01-01T00:00:00Z';
  const emptyMembers = { id: '', projectId: '', createTime: zeroTime, updateTime: zeroTime };
  const metadata = { url: 'https://hooks.example.com/deployed' };
  const refusal = await send('POST', `${project}/destinations`, {
    ...emptyMembers,
    ...{ name: 'deployed', type: 'webhook', metadata },
  });
  expect(refusal.status).toBe(400);
  const unknownNames = refusal.body.issues.map(({ name }: { name: string }) => name);
  expect(unknownNames.toSorted()).toEqual(Object.keys(emptyMembers).toSorted());

  const [{ id }] = (await send('GET', `${project}/destinations`)).body;
  const path = `${project}/destinations/${id}`;
  expect(await send('GET', path)).toMatchObject({ status: 200, body: { id, name: 'records' } });
  const patch = { destination: { metadata }, updateMask: ['metadata'] };
  expect(await send('PATCH', path, patch)).toMatchObject({ status: 200, body: { metadata } });
});
