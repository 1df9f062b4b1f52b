/** Manifests in zip archives, which the command line of the reference API uploads. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { removeExpired } from '../../../../src/domain/upkeep/retention.ts';
import { getSharedApp } from '../../../support/app.ts';
import { insertDestination } from '../../../support/fixtures/integrations.ts';
import { createRestTenant, type RestTenant } from '../../../support/rest/rest-client.ts';
import { buildZip } from '../../../support/rest/zip.ts';

const start = new Date('2030-01-01T00:03:00Z');
let now = start;
const app = await getSharedApp({ now: () => now });

const formatIntegration = (name: string) => `
  - name: ${name}
    provider: sandbox
    read:
      objects:
        - objectName: contacts
          destination: records
          schedule: "0 * * * *"
          requiredFields:
            - fieldName: email
`;
const formatManifest = (...names: string[]) =>
  `specVersion: 1.0.0\nintegrations:${names.map(formatIntegration).join('')}`;
const buildManifestZip = (...names: string[]) =>
  buildZip({ name: 'amp.yaml', text: formatManifest(...names) });
const computeMd5 = (file: Buffer) => createHash('md5').update(file).digest('base64');

async function createUploadTenant(): Promise<RestTenant> {
  now = start;
  const rest = await createRestTenant(app);
  await insertDestination(app, rest.tenant);
  return rest;
}

interface SignedUpload {
  url: string;
  bucket: string;
  path: string;
}

async function fetchUploadUrl(rest: Pick<RestTenant, 'get'>, file?: Buffer): Promise<SignedUpload> {
  const query = file ? `?md5=${encodeURIComponent(computeMd5(file))}` : '';
  return rest.get(`/generate-upload-url${query}`);
}

async function putFile({ url }: SignedUpload, file: Buffer) {
  const { statusCode, headers, body } = await app.app.rest.inject({
    method: 'PUT',
    url: new URL(url).pathname,
    headers: { 'content-type': 'application/zip' },
    payload: file,
  });
  if (statusCode === 200) return { status: statusCode, detail: body };
  expect(headers['content-type']).toBe('application/problem+json');
  return { status: statusCode, detail: JSON.parse(body).detail };
}

async function upload(rest: RestTenant, file: Buffer): Promise<SignedUpload> {
  const signedUrls = await fetchUploadUrl(rest, file);
  expect(await putFile(signedUrls, file)).toEqual({ status: 200, detail: '' });
  return signedUrls;
}

const deploy = (rest: RestTenant, sourceZipUrl: string) =>
  rest.request('PUT', `${rest.base}/integrations:batch`, { sourceZipUrl });

const expectUrlRefusal = async (rest: RestTenant, sourceZipUrl: string) => {
  const { status, body } = await deploy(rest, sourceZipUrl);
  expect([status, body.issues?.[0].name]).toEqual([400, 'sourceZipUrl']);
  return body.issues[0].detail;
};

test('deploys an uploaded manifest by both forms of its address', async () => {
  const rest = await createUploadTenant();
  const file = buildManifestZip('readContacts', 'other');
  const { url, bucket, path } = await upload(rest, file);
  const deployed = await deploy(rest, `gs://${bucket}/${path}`);
  expect(deployed.status).toBe(200);
  expect(deployed.body.map(({ name }: { name: string }) => name)).toEqual([
    'readContacts',
    'other',
  ]);
  expect((await deploy(rest, url)).body).toEqual(deployed.body);
  await rest.post(`${rest.base}/integrations/readContacts/revisions`, { sourceZipUrl: url });
});

test('requires a project from a builder with several, and the scope from other callers', async () => {
  const rest = await createUploadTenant();
  const file = buildManifestZip('crm');
  const { orgId, builder } = rest.tenant;
  await builder.query(
    `mutation CreateProject($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }`,
    { input: { orgId, name: `second-${crypto.randomUUID().slice(0, 8)}`, appName: 'Second' } },
  );
  expect(await rest.builder.expectRefusal('GET', '/generate-upload-url')).toMatchObject({
    status: 400,
    issues: [{ name: 'projectIdOrName' }],
  });
  const signedUrls = await rest.builder.get(
    `/generate-upload-url?projectIdOrName=${rest.tenant.projectName}`,
  );
  expect((await putFile(signedUrls, file)).status).toBe(200);
  expect((await deploy(rest, signedUrls.url)).status).toBe(200);
  const reader = await rest.withScopes('read');
  expect((await reader.expectRefusal('GET', '/generate-upload-url')).status).toBe(403);
  const otherTenant = await createUploadTenant();
  const foreignPath = `/generate-upload-url?projectIdOrName=${otherTenant.tenant.projectName}`;
  expect((await rest.expectRefusal('GET', foreignPath)).status).toBe(404);
});

test('refuses the upload of another project, and its URL with another project in it', async () => {
  const [rest, otherTenant] = [await createUploadTenant(), await createUploadTenant()];
  const { url, bucket, path } = await upload(rest, buildManifestZip('crm'));
  const refusedUrl = 'must be a URL that generate-upload-url returned for this project';
  expect(await expectUrlRefusal(otherTenant, url)).toContain(refusedUrl);
  expect(await expectUrlRefusal(otherTenant, `gs://${bucket}/${path}`)).toContain(refusedUrl);
  const moved = url.replace(rest.tenant.projectId, otherTenant.tenant.projectId);
  expect(await expectUrlRefusal(otherTenant, moved)).toContain(refusedUrl);
  const unused = await fetchUploadUrl(rest);
  const forged = {
    ...unused,
    url: unused.url.replace(rest.tenant.projectId, otherTenant.tenant.projectId),
  };
  expect((await putFile(forged, buildManifestZip('crm'))).status).toBe(403);
  expect(await expectUrlRefusal(rest, unused.url)).toContain(refusedUrl);
  for (const address of ['https://files.example.com/a.zip', 'file:///etc/passwd', '']) {
    expect(await expectUrlRefusal(rest, address)).toContain(refusedUrl);
  }
});

test('accepts one file with its checksum at an upload URL, within an hour', async () => {
  const rest = await createUploadTenant();
  const file = buildManifestZip('crm');
  const used = await upload(rest, file);
  expect((await putFile(used, file)).status).toBe(409);
  const signedUrls = await fetchUploadUrl(rest, file);
  expect(await putFile(signedUrls, buildManifestZip('other'))).toEqual({
    status: 400,
    detail: 'The file does not have the MD5 checksum of the URL.',
  });
  for (const md5 of ['abc', 'd41d8cd98f00b204e9800998ecf8427e', '']) {
    expect(await rest.expectRefusal('GET', `/generate-upload-url?md5=${md5}`)).toMatchObject({
      status: 400,
      issues: [{ in: 'query', name: 'md5' }],
    });
  }
  now = new Date(start.getTime() + 3_600_000);
  expect((await putFile(signedUrls, file)).status).toBe(403);
  expect(await expectUrlRefusal(rest, used.url)).toContain('within the last hour');
});

test('deletes expired uploads, and limits the uploads of a project', async () => {
  const rest = await createUploadTenant();
  const { services } = app.app;
  const countUploads = () =>
    services.database.prisma.manifestUpload.count({ where: { projectId: rest.tenant.projectId } });
  for (let uploads = 0; uploads < 20; uploads += 1) await upload(rest, buildManifestZip('crm'));
  expect((await putFile(await fetchUploadUrl(rest), buildManifestZip('crm'))).status).toBe(429);
  await removeExpired(services, { pause: async () => {} });
  expect(await countUploads()).toBe(20);
  now = new Date(start.getTime() + 3_600_001);
  await removeExpired(services, { pause: async () => {} });
  expect(await countUploads()).toBe(0);
  now = start;
});

test('refuses a file of more than 1 MiB', async () => {
  const rest = await createUploadTenant();
  expect((await putFile(await fetchUploadUrl(rest), Buffer.alloc(1024 * 1024))).status).toBe(200);
  expect(await putFile(await fetchUploadUrl(rest), Buffer.alloc(1024 * 1024 + 1))).toEqual({
    status: 413,
    detail: 'The file is larger than 1048576 bytes.',
  });
});

test('refuses an archive that is too large unpacked, unsafe, or without a manifest', async () => {
  const rest = await createUploadTenant();
  const fetchDetail = async (file: Buffer) =>
    expectUrlRefusal(rest, (await upload(rest, file)).url);
  const manifestFile = { name: 'amp.yaml', text: formatManifest('crm') };
  const createFiles = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `f${index}`, text: '' }));
  expect(await fetchDetail(buildZip(manifestFile, ...createFiles(100)))).toBe(
    'must have at most 100 files.',
  );
  expect(
    (await deploy(rest, (await upload(rest, buildZip(manifestFile, ...createFiles(99)))).url))
      .status,
  ).toBe(200);
  const large = { name: 'b', text: ' '.repeat(4 * 1024 * 1024) };
  expect(await fetchDetail(buildZip(manifestFile, large))).toBe(
    'must have at most 4194304 bytes when it is unpacked.',
  );
  const bomb = { name: 'amp.yaml', text: ' '.repeat(8 * 1024 * 1024), declaredBytes: 1_000 };
  expect(await fetchDetail(buildZip(bomb))).toMatch(
    /^is not a zip archive that can be read: too many/,
  );
  for (const name of ['../amp.yaml', '/etc/amp.yaml', 'a\\..\\..\\b', 'C:/b']) {
    expect(await fetchDetail(buildZip(manifestFile, { name, text: '' })), name).toMatch(
      /^is not a zip archive that can be read: (invalid|absolute)/,
    );
  }
  const noManifest = 'must have one file amp.yaml or amp.yml at its top.';
  expect(await fetchDetail(buildZip({ ...manifestFile, name: 'folder/amp.yaml' }))).toBe(
    noManifest,
  );
  expect(await fetchDetail(buildZip(manifestFile, { ...manifestFile, name: 'amp.yml' }))).toBe(
    noManifest,
  );
  expect(await fetchDetail(Buffer.from('no zip'))).toMatch(/^is not a zip archive/);
  expect(await fetchDetail(Buffer.alloc(0))).toMatch(/^is not a zip archive/);
  expect(await fetchDetail(buildZip({ ...manifestFile, text: 'just a text' }))).toBe(
    'line 1, column 1: must have specVersion, and integrations with names.',
  );
  const twoSources = { sourceZipUrl: 'a', sourceYaml: 'b' };
  expect((await rest.request('PUT', `${rest.base}/integrations:batch`, twoSources)).status).toBe(
    400,
  );
});
