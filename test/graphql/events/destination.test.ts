import { expect, test } from 'vitest';
import {
  hasSecret,
  openSigningSecrets,
  SEALED_SECRETS,
} from '../../../src/deliveries/signing-secret.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  CREATE_INSTALLATION,
  CREATE_REVISION,
  createIntegration,
  createIntegrationContent,
  insertDestination,
  toRevision,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { database, vault } = app.app.services;

const CREATE_DESTINATION = `mutation CreateDestination($input: CreateDestinationInput!) {
  createDestination(input: $input) {
    signingSecret
    destination { id name type url headers status disabledReason updateTime project { id } }
  }
}`;
const UPDATE_DESTINATION = `mutation UpdateDestination($input: UpdateDestinationInput!) {
  updateDestination(input: $input) {
    destination { id name url headers status disabledReason updateTime }
  }
}`;
const ROTATE_SECRET = `mutation RotateDestinationSecret($input: RotateDestinationSecretInput!) {
  rotateDestinationSecret(input: $input) { signingSecret destination { id signingSecret } }
}`;
const DELETE_DESTINATION = `mutation DeleteDestination($input: DeleteDestinationInput!) {
  deleteDestination(input: $input) { deletedId }
}`;

const url = 'https://hooks.example.test/events';

function createInput(tenant: Tenant, overrides: Record<string, unknown> = {}) {
  const input = {
    projectIdOrName: tenant.projectId,
    name: 'crm',
    type: 'WEBHOOK',
    url,
    ...overrides,
  };
  return { input };
}

async function createWebhook(tenant: Tenant, overrides: Record<string, unknown> = {}) {
  const { createDestination } = await tenant.query(
    CREATE_DESTINATION,
    createInput(tenant, overrides),
  );
  const { destination, signingSecret } = createDestination;
  return { ...destination, signingSecret, projectIdOrName: tenant.projectId };
}

async function updateDestination(
  tenant: Tenant,
  destinationId: string,
  members: Record<string, unknown>,
) {
  const input = { projectIdOrName: tenant.projectId, destinationId, ...members };
  return (await tenant.query(UPDATE_DESTINATION, { input })).updateDestination.destination;
}

const findRow = (id: string) => database.prisma.destination.findFirstOrThrow({ where: { id } });

test('returns since when a destination fails, until it is enabled again', async () => {
  const tenant = await app.createTenant();
  const { id } = await createWebhook(tenant);
  const failingSince = '2026-01-02T03:04:05.678Z';
  await database.prisma.destination.updateMany({
    where: { id },
    data: { failingSince, failedAttempts: 3, status: 'DISABLED' },
  });
  const query = `query GetDestination($id: ID!) {
    node(id: $id) { ... on Destination { failingSince failedAttempts } }
  }`;
  expect((await tenant.query(query, { id })).node).toEqual({ failingSince, failedAttempts: 3 });
  await updateDestination(tenant, id, { status: 'ENABLED' });
  expect((await tenant.query(query, { id })).node).toEqual({
    failingSince: null,
    failedAttempts: 0,
  });
});

const LIST_FAILING = `query ListFailingDestinations($project: String!, $failing: Boolean) {
  project(idOrName: $project) { destinations(failing: $failing) { nodes { name } } }
}`;

test('filters destinations by whether they fail', async () => {
  const tenant = await app.createTenant();
  const { projectId: project } = tenant;
  const { id } = await createWebhook(tenant, { name: 'broken' });
  await createWebhook(tenant, { name: 'working' });
  await database.prisma.destination.updateMany({
    where: { id },
    data: { failingSince: new Date(), failedAttempts: 1 },
  });
  const listNames = async (failing: boolean | null) => {
    const { destinations } = (await tenant.query(LIST_FAILING, { project, failing })).project;
    return destinations.nodes.map(({ name }: { name: string }) => name);
  };
  expect(await listNames(true)).toEqual(['broken']);
  expect(await listNames(false)).toEqual(['working']);
  expect(await listNames(null)).toEqual(['working', 'broken']);
});

test('creates a destination, with its secret sealed', async () => {
  const tenant = await app.createTenant();
  const headers = { 'X-Tenant': 'a', Authorization: 'Bearer abc' };
  const { createDestination } = await tenant.query(
    CREATE_DESTINATION,
    createInput(tenant, { headers }),
  );
  expect(createDestination).toEqual({
    signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    destination: {
      id: expect.stringMatching(/^dst_/),
      name: 'crm',
      type: 'WEBHOOK',
      url,
      headers: { 'X-Tenant': '***', Authorization: '***' },
      status: 'ENABLED',
      disabledReason: null,
      updateTime: null,
      project: { id: tenant.projectId },
    },
  });
  const row = await findRow(createDestination.destination.id);
  expect(JSON.stringify(row)).not.toContain(createDestination.signingSecret.slice(6));
  expect(row.signingSecretSealed).toMatch(/^v1\./);
});

test('returns the secret on creation, and later only with credentials:read', async () => {
  const tenant = await app.createTenant();
  const creator = await tenant.withScopes('events:write', 'read');
  const { createDestination } = await creator.query(CREATE_DESTINATION, createInput(tenant));
  const { signingSecret, destination } = createDestination;
  const newerWebhook = await createWebhook(tenant, { name: 'other' });
  expect(signingSecret).toMatch(/^whsec_/);

  const listSecrets = `query ListDestinations($id: String!) {
    project(idOrName: $id) { destinations { nodes { id signingSecret } } }
  }`;
  const listedDestinations = await tenant.query(listSecrets, { id: tenant.projectId });
  expect(listedDestinations.project.destinations.nodes).toEqual([
    { id: newerWebhook.id, signingSecret: newerWebhook.signingSecret },
    { id: destination.id, signingSecret },
  ]);
  const getSecret = `query GetDestination($id: ID!) {
    node(id: $id) { id ... on Destination { signingSecret } }
  }`;
  for (const scope of ['read', 'full'] as const) {
    const reader = await tenant.withScopes(scope);
    const { data, errors } = await reader.request(getSecret, { id: destination.id });
    expect(data.node).toEqual({ id: destination.id, signingSecret: null });
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  }
});

test('reports every issue of the schema together, and repeats no header', async () => {
  const tenant = await app.createTenant();
  const values = {
    name: 'no spaces',
    url: 'hooks.example.test',
    headers: { Host: 'evil.example', 'X-Number': 5 },
  };
  const names = ['input.name', 'input.headers.Host', 'input.headers.X-Number', 'input.url'];
  const { problem, code } = await tenant.expectRefusal(
    CREATE_DESTINATION,
    createInput(tenant, values),
  );
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual(names);
  expect(problem.issues?.map((issue) => issue.value)).toEqual([
    values.name,
    undefined,
    undefined,
    values.url,
  ]);

  const withoutProject = { input: { ...createInput(tenant, values).input, projectIdOrName: '' } };
  const fullRefusal = await tenant.expectRefusal(CREATE_DESTINATION, withoutProject);
  expect(listIssueNames(fullRefusal.problem)).toEqual(['input.projectIdOrName', ...names]);

  const { id, projectIdOrName } = await createWebhook(tenant);
  const input = { projectIdOrName, destinationId: id, ...values };
  const refusal = await tenant.expectRefusal(UPDATE_DESTINATION, { input });
  expect(listIssueNames(refusal.problem)).toEqual(names);
  expect(await findRow(id)).toMatchObject({ name: 'crm', url });

  const insecureInput = { ...input, name: 'crm', headers: {}, url: 'http://hooks.example.test' };
  const { problem: hostProblem } = await tenant.expectRefusal(UPDATE_DESTINATION, {
    input: insecureInput,
  });
  expect(hostProblem.issues).toMatchObject([{ name: 'input.url', detail: 'must use https.' }]);
});

test.each([
  'https://127.0.0.1/hook',
  'https://2130706433/hook',
  'https://[::ffff:169.254.169.254]/latest/meta-data',
  'https://localhost/hook',
  'http://hooks.example.test/hook',
  'https://user:pw@hooks.example.test/hook',
  'https://hooks.example.test/#hook',
])('refuses the URL %s', async (refusedUrl) => {
  const tenant = await app.createTenant();
  const { problem } = await tenant.expectRefusal(
    CREATE_DESTINATION,
    createInput(tenant, { url: refusedUrl }),
  );
  expect(problem.issues).toMatchObject([{ in: 'body', name: 'input.url' }]);
  expect(JSON.stringify(problem)).not.toContain('user:pw');
});

test('returns CONFLICT for a second destination of a name, and for a rename to it', async () => {
  const tenant = await app.createTenant();
  await createWebhook(tenant);
  const erpWebhook = await createWebhook(tenant, { name: 'erp' });
  expect(await tenant.expectRefusal(CREATE_DESTINATION, createInput(tenant))).toMatchObject({
    code: 'CONFLICT',
  });
  const { projectIdOrName, id } = erpWebhook;
  const input = { projectIdOrName, destinationId: id, name: 'crm' };
  expect(await tenant.expectRefusal(UPDATE_DESTINATION, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect((await findRow(id)).name).toBe('erp');
});

test('changes only the members in the input, and clears headers with null', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant, { headers: { 'X-A': '1' } });
  expect(await updateDestination(tenant, id, { name: 'erp' })).toMatchObject({
    name: 'erp',
    url,
    headers: { 'X-A': '***' },
    updateTime: expect.any(String),
  });
  expect(await updateDestination(tenant, id, { url: `${url}/2` })).toMatchObject({
    name: 'erp',
    url: `${url}/2`,
  });
  expect(await updateDestination(tenant, id, { headers: null })).toMatchObject({
    name: 'erp',
    headers: null,
  });

  const input = { projectIdOrName, destinationId: id, name: null, url: null, status: null };
  const { problem } = await tenant.expectRefusal(UPDATE_DESTINATION, { input });
  expect(listIssueNames(problem)).toEqual(['input.name', 'input.url', 'input.status']);
});

test('keeps pending deliveries while disabled, and makes them due when enabled', async () => {
  const tenant = await app.createTenant();
  const { id } = await createWebhook(tenant);
  expect(await updateDestination(tenant, id, { status: 'DISABLED' })).toMatchObject({
    status: 'DISABLED',
    disabledReason: 'Disabled by a caller.',
  });
  await database.prisma.destination.updateMany({
    where: { id },
    data: { failingSince: new Date(), failedAttempts: 20 },
  });
  const keys = { projectId: tenant.projectId, destinationId: id };
  const inAnHour = new Date(Date.now() + 3_600_000);
  const pendingDelivery = await insert.delivery({ ...keys, nextAttemptTime: inAnHour });
  const waitingDelivery = await insert.delivery({ ...keys, nextAttemptTime: null });
  const failedDelivery = await insert.delivery({ ...keys, status: 'FAILED' });

  expect(await updateDestination(tenant, id, { status: 'ENABLED' })).toMatchObject({
    status: 'ENABLED',
    disabledReason: null,
  });
  expect(await findRow(id)).toMatchObject({ failingSince: null, failedAttempts: 0 });
  const dueTimes = new Map(
    (await database.prisma.delivery.findMany({ where: { destinationId: id } })).map((row) => [
      row.id,
      row.nextAttemptTime,
    ]),
  );
  expect(dueTimes.get(pendingDelivery.id)?.getTime()).toBeLessThan(inAnHour.getTime());
  expect(dueTimes.get(waitingDelivery.id)).not.toBeNull();
  expect(dueTimes.get(failedDelivery.id)).toBeNull();
});

test('also signs with the old secret for a day after a rotation', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName, signingSecret: oldSecret } = await createWebhook(tenant);
  const input = { projectIdOrName, destinationId: id };
  const rotation = (await tenant.query(ROTATE_SECRET, { input })).rotateDestinationSecret;
  const newSecret = rotation.signingSecret;
  expect(newSecret).not.toBe(oldSecret);
  expect(rotation.destination).toEqual({ id, signingSecret: newSecret });

  const sealedSecrets = await database.prisma.destination.findFirstOrThrow({
    where: { id },
    select: SEALED_SECRETS,
  });
  if (!hasSecret(sealedSecrets)) throw new Error('The destination is not a webhook.');
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  expect(openSigningSecrets(vault, sealedSecrets, inHours(23))).toEqual([newSecret, oldSecret]);
  expect(openSigningSecrets(vault, sealedSecrets, inHours(25))).toEqual([newSecret]);
});

test('deletes the routes of a deleted destination, and fails its pending deliveries', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant);
  const { projectId } = tenant;
  const topicId = newId('top');
  await database.prisma.topic.create({ data: { id: topicId, projectId, name: 'alerts' } });
  const route = { id: newId('tdr'), projectId, topicId, destinationId: id };
  await database.prisma.topicDestinationRoute.create({ data: route });
  const keys = { projectId, destinationId: id };
  const lease = { leaseToken: 'held', leaseExpireTime: new Date(), nextAttemptTime: new Date() };
  const pendingDelivery = await insert.delivery({ ...keys, ...lease });
  const sentDelivery = await insert.delivery({ ...keys, status: 'SUCCEEDED' });

  const input = { projectIdOrName, destinationId: id };
  expect(await tenant.query(DELETE_DESTINATION, { input })).toEqual({
    deleteDestination: { deletedId: id },
  });
  expect(await database.prisma.topicDestinationRoute.count({ where: { topicId } })).toBe(0);
  const getDelivery = `query GetDelivery($id: ID!) {
    node(id: $id) { ... on Delivery { status failureReason } }
  }`;
  expect((await tenant.query(getDelivery, { id: pendingDelivery.id })).node).toEqual({
    status: 'FAILED',
    failureReason: 'The destination was deleted.',
  });
  expect((await tenant.query(getDelivery, { id: sentDelivery.id })).node.status).toBe('SUCCEEDED');
  const row = await database.prisma.delivery.findFirst({ where: { id: pendingDelivery.id } });
  expect(row).toMatchObject({ leaseToken: null, leaseExpireTime: null, nextAttemptTime: null });
  expect(await tenant.expectRefusal(DELETE_DESTINATION, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('refuses to rename or delete a destination that an integration names', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant);
  const object = { objectName: 'contacts', destination: 'crm' };
  const content = createIntegrationContent('contacts-sync', { read: { objects: [object] } });
  await createIntegration(app, tenant, content);
  const input = { projectIdOrName, destinationId: id };
  const refusal = {
    code: 'CONFLICT',
    problem: { detail: expect.stringContaining('contacts-sync') },
  };
  expect(await tenant.expectRefusal(DELETE_DESTINATION, { input })).toMatchObject(refusal);
  expect(
    await tenant.expectRefusal(UPDATE_DESTINATION, { input: { ...input, name: 'erp' } }),
  ).toMatchObject(refusal);
  expect((await findRow(id)).name).toBe('crm');
  // Other changes are allowed, and so is an unchanged name.
  await tenant.query(UPDATE_DESTINATION, { input: { ...input, name: 'crm', url: `${url}/2` } });
  expect((await findRow(id)).url).toBe(`${url}/2`);
});

test('deletes a destination once no latest revision and no present config names it', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant);
  await insertDestination(app, tenant, 'other');
  const createReadObject = (destination: string) => ({ objectName: 'contacts', destination });
  const content = createIntegrationContent('sync', {
    read: { objects: [createReadObject('crm')] },
  });
  await createIntegration(app, tenant, content);
  await generateConnection(tenant);
  const installationInput = { projectIdOrName, integrationIdOrName: 'sync', groupRef: 'acme' };
  const createConfig = (destination: string) => ({
    read: [{ ...createReadObject(destination), selectedFields: [] }],
  });
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, {
    input: { ...installationInput, config: createConfig('crm') },
  });
  const installationId = createInstallation.installation.id;
  const expectRefusalDetail = async () => {
    const input = { projectIdOrName, destinationId: id };
    return (await tenant.expectRefusal(DELETE_DESTINATION, { input })).problem.detail;
  };
  expect(await expectRefusalDetail()).toContain(`integration sync, installation ${installationId}`);
  const revision = toRevision({ ...content, read: { objects: [createReadObject('other')] } });
  await tenant.query(CREATE_REVISION, {
    input: { projectIdOrName, integrationIdOrName: 'sync', revision },
  });
  expect(await expectRefusalDetail()).not.toContain('integration sync');
  await tenant.query(UPDATE_INSTALLATION, {
    input: { projectIdOrName, installationId, config: createConfig('other') },
  });
  await tenant.query(DELETE_DESTINATION, { input: { projectIdOrName, destinationId: id } });
});

test("returns NOT_FOUND for another tenant's destination", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id } = await createWebhook(tenant);
  const rowBefore = await findRow(id);
  const getDestination = `query GetDestination($id: ID!) {
    node(id: $id) { id ... on Destination { signingSecret } }
  }`;
  expect(await otherTenant.query(getDestination, { id })).toEqual({ node: null });
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const input = { projectIdOrName, destinationId: id };
    const notFound = { code: 'NOT_FOUND' };
    expect(await otherTenant.expectRefusal(DELETE_DESTINATION, { input })).toMatchObject(notFound);
    expect(await otherTenant.expectRefusal(ROTATE_SECRET, { input })).toMatchObject(notFound);
    expect(
      await otherTenant.expectRefusal(UPDATE_DESTINATION, { input: { ...input, name: 'mine' } }),
    ).toMatchObject(notFound);
  }
  expect(await otherTenant.expectRefusal(CREATE_DESTINATION, createInput(tenant))).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await findRow(id)).toEqual(rowBefore);
});

test('returns FORBIDDEN for a key without the scope', async () => {
  const tenant = await app.createTenant();
  const reader = await tenant.withScopes('read', 'credentials:read');
  const { id, projectIdOrName } = await createWebhook(tenant);
  const input = { projectIdOrName, destinationId: id };
  expect(
    await reader.expectRefusal(CREATE_DESTINATION, createInput(tenant, { name: 'erp' })),
  ).toMatchObject({ code: 'FORBIDDEN' });
  for (const mutation of [UPDATE_DESTINATION, ROTATE_SECRET, DELETE_DESTINATION]) {
    expect(await reader.expectRefusal(mutation, { input })).toMatchObject({ code: 'FORBIDDEN' });
  }
});

const GET_VALUES = `query GetDestination($id: ID!) {
  node(id: $id) { ... on Destination { url headers urlWithValues headerValues } }
}`;

test('returns values of headers and of the query only with credentials:read', async () => {
  const tenant = await app.createTenant();
  const secret = { url: `${url}?token=s3cret&v`, headers: { 'X-Key': 's3cret' } };
  const { id, ...destination } = await createWebhook(tenant, secret);
  const masked = { url: `${url}?token=***&***`, headers: { 'X-Key': '***' } };
  expect(destination).toMatchObject(masked);
  expect((await tenant.query(GET_VALUES, { id })).node).toEqual({
    ...masked,
    urlWithValues: secret.url,
    headerValues: secret.headers,
  });
  const reader = await tenant.withScopes('read');
  const { data, errors } = await reader.request(GET_VALUES, { id });
  expect(data.node).toEqual({ ...masked, urlWithValues: null, headerValues: null });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  expect(JSON.stringify(await findRow(id))).not.toContain('s3cret');
});

test('refuses masks as values, and reports each of them', async () => {
  const tenant = await app.createTenant();
  const secret = { url: `${url}?token=s3cret`, headers: { 'X-Key': 's3cret', 'X-B': 'b' } };
  const { id, projectIdOrName, url: maskedUrl, headers } = await createWebhook(tenant, secret);
  const input = { projectIdOrName, destinationId: id, url: maskedUrl, headers };
  const { problem } = await tenant.expectRefusal(UPDATE_DESTINATION, { input });
  expect(listIssueNames(problem).toSorted()).toEqual([
    'input.headers.X-B',
    'input.headers.X-Key',
    'input.url',
  ]);
  expect(problem.detail).toContain('`token`');
  const { node } = await tenant.query(GET_VALUES, { id });
  expect(node).toMatchObject({ urlWithValues: secret.url, headerValues: secret.headers });
  const creating = createInput(tenant, { name: 'copy', url: maskedUrl, headers });
  expect((await tenant.expectRefusal(CREATE_DESTINATION, creating)).problem.issues).toHaveLength(3);
});

test('keeps the values of the headers in keepHeaders', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant, {
    headers: { 'X-A': '1', 'X-B': '2' },
  });
  const caller = await tenant.withScopes('events:write', 'read');
  const input = { projectIdOrName, destinationId: id };
  const headers = { 'X-C': '3' };
  await caller.query(UPDATE_DESTINATION, { input: { ...input, headers, keepHeaders: ['x-a'] } });
  const queryHeaderValues = async () => (await tenant.query(GET_VALUES, { id })).node.headerValues;
  expect(await queryHeaderValues()).toEqual({ 'X-A': '1', 'X-C': '3' });
  const wrong = { ...input, headers: { 'X-A': '4' }, keepHeaders: ['X-A', 'X-B', 'X-C'] };
  const { problem } = await caller.expectRefusal(UPDATE_DESTINATION, { input: wrong });
  expect(listIssueNames(problem)).toEqual(['input.keepHeaders[0]', 'input.keepHeaders[1]']);
  await caller.query(UPDATE_DESTINATION, { input: { ...input, keepHeaders: ['X-C'] } });
  expect(await queryHeaderValues()).toEqual({ 'X-C': '3' });
  expect(
    await (await app.createTenant()).expectRefusal(UPDATE_DESTINATION, { input: wrong }),
  ).toMatchObject({ code: 'NOT_FOUND' });
});

test('refuses more headers than a destination may have, kept and new ones together', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant, { headers: { 'X-Kept': '1' } });
  const headers = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`X-${index}`, 'new']),
  );
  const input = { projectIdOrName, destinationId: id, headers, keepHeaders: ['X-Kept'] };
  const { problem } = await tenant.expectRefusal(UPDATE_DESTINATION, { input });
  expect(problem.issues).toMatchObject([
    { name: 'input.keepHeaders', detail: expect.stringContaining('at most 20 headers together') },
  ]);
});

test('keeps the values of headers for another host only for callers who can read them', async () => {
  const tenant = await app.createTenant();
  const { id, projectIdOrName } = await createWebhook(tenant, { headers: { 'X-A': '1' } });
  const caller = await tenant.withScopes('events:write', 'read');
  const elsewhere = {
    projectIdOrName,
    destinationId: id,
    url: 'https://other.example.test/events',
  };
  for (const selection of [{}, { keepHeaders: ['X-A'] }]) {
    const { problem } = await caller.expectRefusal(UPDATE_DESTINATION, {
      input: { ...elsewhere, ...selection },
    });
    expect(problem.issues).toMatchObject([
      { name: 'input.url', detail: expect.stringContaining('https://other.example.test') },
    ]);
  }
  const near = { ...elsewhere, url: `${url}/2` };
  for (const input of [near, { ...elsewhere, headers: { 'X-A': '2' } }]) {
    await caller.query(UPDATE_DESTINATION, { input });
  }
  await tenant.query(UPDATE_DESTINATION, { input: near });
  expect((await tenant.query(GET_VALUES, { id })).node).toMatchObject({
    urlWithValues: near.url,
    headerValues: { 'X-A': '2' },
  });
});
