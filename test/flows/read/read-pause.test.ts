import { expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import type { Capabilities } from '../../../src/providers/contract.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../support/app.ts';
import {
  createIntegrationContent,
  deleteInstallation,
} from '../../support/fixtures/integrations.ts';
import {
  installReads,
  PAUSE_READS,
  POLLING,
  RESUME_READS,
  startReadJobs,
  TRIGGER_READ,
} from '../../support/fixtures/reads.ts';
import { UNDOCUMENTED } from '../../support/providers/provider-session.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';

const app = await getSharedApp();
const { services, sandbox } = app.app;
sandbox.seed('contacts', 10);

const [contacts] = createIntegrationContent().read.objects;
const objects = [
  { ...contacts, mapToName: 'people' },
  { ...contacts, objectName: 'deals', requiredFields: [{ fieldName: 'name' }] },
];
const content = { read: { objects } };

async function listPauses(reads: Awaited<ReturnType<typeof installReads>>) {
  return Promise.all(
    ['contacts', 'deals'].map(async (name) => {
      const { paused, pauseNote, nextReadTime } = await reads.getObject(name);
      return { paused, pauseNote, isScheduled: nextReadTime !== null };
    }),
  );
}

const LIST_ATTENTION_ITEMS = `query Attention($project: String!) {
  project(idOrName: $project) { attentionItems { kind objectName detail subject { id } } }
}`;

const SCHEDULED = { paused: false, pauseNote: null, isScheduled: true };

test('pauses all objects with a note, and resumes them', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  const { pauseReads } = await tenant.query(PAUSE_READS, {
    input: { ...reads.input, note: 'moving' },
  });
  const pausedObject = { paused: true, pauseNote: 'moving', nextReadTime: null };
  expect(pauseReads.installation.objects).toEqual([
    { objectName: 'contacts', ...pausedObject },
    { objectName: 'deals', ...pausedObject },
  ]);
  const listAttentionItems = async () =>
    (await tenant.query(LIST_ATTENTION_ITEMS, { project: tenant.projectId })).project
      .attentionItems;
  const pausedItem = {
    kind: 'READ_PAUSED',
    detail: 'moving',
    subject: { id: reads.input.installationId },
  };
  expect(await listAttentionItems()).toEqual([
    { objectName: 'contacts', ...pausedItem },
    { objectName: 'deals', ...pausedItem },
  ]);
  await reads.makeDue();
  await startDueReads(services);
  expect(await reads.listOperations()).toEqual([]);

  const { resumeReads } = await tenant.query(RESUME_READS, {
    input: { ...reads.input, note: 'moved' },
  });
  const resumedObject = { paused: false, pauseNote: 'moved', nextReadTime: expect.any(String) };
  expect(resumeReads.installation.objects).toEqual([
    { objectName: 'contacts', ...resumedObject },
    { objectName: 'deals', ...resumedObject },
  ]);
  expect(await listAttentionItems()).toEqual([]);
});

test('pauses only the objects in the input, by their name or mapped name', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  await tenant.query(PAUSE_READS, { input: { ...reads.input, objects: ['people'] } });
  const pausedObject = { paused: true, pauseNote: null, isScheduled: false };
  expect(await listPauses(reads)).toEqual([pausedObject, SCHEDULED]);
  await tenant.query(PAUSE_READS, { input: { ...reads.input, objects: ['deals'] } });
  await tenant.query(RESUME_READS, { input: { ...reads.input, objects: ['contacts'] } });
  expect(await listPauses(reads)).toEqual([SCHEDULED, pausedObject]);
});

test('changes nothing when paused objects are paused again, or unpaused objects are resumed', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  await tenant.query(RESUME_READS, { input: { ...reads.input, note: 'unneeded' } });
  expect(await listPauses(reads)).toEqual([SCHEDULED, SCHEDULED]);
  await tenant.query(PAUSE_READS, { input: { ...reads.input, note: 'first' } });
  const pauses = await listPauses(reads);
  await tenant.query(PAUSE_READS, { input: { ...reads.input, note: 'second' } });
  expect(await listPauses(reads)).toEqual(pauses);
});

/** Returns the operation of the only read, as the API returns it. */
async function findOperation(tenant: Tenant, installationId: string) {
  const { node } = await tenant.query(
    `query Installation($id: ID!) { node(id: $id) { ... on Installation { operations { nodes {
      status result metadata { progress { recordsProcessed } } logs { nodes { message } }
    } } } } }`,
    { id: installationId },
  );
  const [{ logs, ...operation }] = node.operations.nodes;
  return {
    ...operation,
    logMessages: logs.nodes.map(({ message }: { message: string }) => message),
  };
}

test('pauses a read in progress until it is resumed, and shows the pause in its operation', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  await reads.makeDue();
  await startDueReads(services);
  await tenant.query(PAUSE_READS, { input: reads.input });
  await using _workers = await startReadJobs(app);
  const dealsTrigger = { ...reads.triggerInput, objectName: 'deals' };
  await tenant.query(TRIGGER_READ, { input: dealsTrigger });
  const listStatuses = async () => (await reads.listOperations()).map(({ status }) => status);
  await expect.poll(listStatuses, POLLING).toEqual(['IN_PROGRESS', 'SUCCESS']);
  expect((await reads.listOperations())[0]).toMatchObject({ result: '[contacts] Read paused' });

  await tenant.query(RESUME_READS, { input: reads.input });
  expect(await reads.waitForOperations(2)).toMatchObject([
    { status: 'SUCCESS', result: '[contacts] Read completed (10 records)' },
    {},
  ]);
});

test('pauses a running read after its page, and continues with the next page', async () => {
  const gate = Promise.withResolvers<void>();
  const pageRequested = Promise.withResolvers<void>();
  await using externalSandbox = await startSandbox();
  externalSandbox.seed('contacts', 120);
  await using slowApp = await startGatedApp(externalSandbox.url, async () => {
    pageRequested.resolve();
    await gate.promise;
  });
  const tenant = await slowApp.createTenant();
  const object = { delivery: { pageSize: 50 } };
  const reads = await installReads(slowApp, tenant, { object });
  await using _workers = await startReadJobs(slowApp);
  await tenant.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'contacts' } });
  await pageRequested.promise;
  await tenant.query(PAUSE_READS, { input: reads.input });
  gate.resolve();
  const readProgress = async () =>
    (await findOperation(tenant, reads.id)).metadata.progress.recordsProcessed;
  await expect.poll(readProgress, POLLING).toBe(50);
  const hasLease = async () =>
    (await slowApp.app.services.database.prisma.readRun.findFirstOrThrow()).leaseToken !== null;
  await expect.poll(hasLease, POLLING).toBe(false);
  expect(await findOperation(tenant, reads.id)).toMatchObject({
    status: 'IN_PROGRESS',
    result: '[contacts] Read paused',
  });
  expect(await reads.listMessages()).toHaveLength(1);

  await tenant.query(RESUME_READS, { input: reads.input });
  expect(await reads.waitForOperations(1)).toMatchObject([
    { status: 'SUCCESS', result: '[contacts] Read completed (120 records)' },
  ]);
  const sizes = (await reads.listMessages()).map(({ resultInfo }) => resultInfo.numRecords);
  expect(sizes).toEqual([50, 50, 20]);
  const { logMessages } = await findOperation(tenant, reads.id);
  expect(logMessages.slice(1, -1)).toEqual([
    '[contacts] Read paused',
    '[contacts] Page 1: 50 records',
    '[contacts] Read resumed',
    '[contacts] Page 2: 50 records',
    '[contacts] Page 3: 20 records',
  ]);
});

type PageReader = NonNullable<Capabilities['readPage']>;

/** Starts an app that awaits `gate` before it reads a page of the sandbox. */
async function startGatedApp(url: string, gate: () => Promise<void>) {
  const provider = createSandboxProvider(() => url);
  const readGatedPage: PageReader = async (session, read) => {
    await gate();
    return (provider.capabilities.readPage as PageReader)(session, read);
  };
  const capabilities: Capabilities = {
    ...provider.capabilities,
    readPage: readGatedPage,
    getBehavior: () => UNDOCUMENTED,
  };
  const env = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
  return createTestApp({ env, providers: [{ ...provider, capabilities }] });
}

test('fails a paused read if its installation is deleted', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  await reads.makeDue();
  await startDueReads(services);
  await tenant.query(PAUSE_READS, { input: reads.input });
  await deleteInstallation(tenant, reads.id);
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'FAILURE' }]);
});

test('reports unknown objects at their position, and pauses nothing', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  const names = ['contacts', 'planets', 'people', 'moons'];
  for (const mutation of [PAUSE_READS, RESUME_READS]) {
    const variables = { input: { ...reads.input, objects: names } };
    const { code, problem } = await tenant.expectRefusal(mutation, variables);
    expect(code).toBe('BAD_USER_INPUT');
    const detail = 'is not an object that the installation reads.';
    expect(problem.issues).toMatchObject([
      { in: 'body', name: 'input.objects[1]', detail, value: 'planets' },
      { in: 'body', name: 'input.objects[3]', detail, value: 'moons' },
    ]);
  }
  expect(await listPauses(reads)).toEqual([SCHEDULED, SCHEDULED]);
});

test("requires the scope reads:control and an installation of the caller's project", async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { content });
  const otherTenant = await app.createTenant();
  const reader = await tenant.withScopes('read', 'installations:write');
  for (const mutation of [PAUSE_READS, RESUME_READS]) {
    expect((await reader.expectRefusal(mutation, { input: reads.input })).code).toBe('FORBIDDEN');
    const foreign = { ...reads.input, projectIdOrName: otherTenant.projectId };
    expect((await otherTenant.expectRefusal(mutation, { input: foreign })).code).toBe('NOT_FOUND');
  }
  expect(await listPauses(reads)).toEqual([SCHEDULED, SCHEDULED]);
});
