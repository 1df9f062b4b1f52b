import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/demo.ts';
import { createRunner } from '../../src/demo/runner.ts';
import { createBearerVerifier, LOCAL_ISSUER } from '../../src/domain/viewer/bearer.ts';
import { createTestApp, getSharedApp } from '../support/app.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

const app = await getSharedApp({ env: { DATA_DIR } });
const { services } = app.app;

test("reports the demo's own org after a restart, even if its builder has created another one", async () => {
  const verifier = await createBearerVerifier(services.config);
  const url = 'http://gateway.test';
  const first = await fillDemo({ services, verifier, url });
  await createRunner(services, LOCAL_ISSUER).change('createOrg', { label: 'Later' }, 'org { id }');
  const second = await fillDemo({ services, verifier, url });
  expect(second).toEqual({ ...first, bearerToken: expect.any(String) });
  expect(JSON.parse(readFileSync(join(DATA_DIR, 'demo.json'), 'utf8')).orgId).toBe(first.orgId);
});

test('fills the sandbox, without a demo, in a database that has projects', async () => {
  await using existing = await createTestApp({ env: { DEMO: undefined } });
  await existing.tenant();
  await existing.app.start();
  const records = await fetch(`${existing.app.services.sandboxUrl()}/objects/contacts/records`);
  expect(await records.json()).toMatchObject({ total: 50 });
  expect(
    await existing.app.services.database.prisma.project.count({ where: { name: 'demo' } }),
  ).toBe(0);
});

test('contains a history of reads that agrees with the records of the sandbox', async () => {
  const { prisma } = services.database;
  const verifier = await createBearerVerifier(services.config);
  const { projectId, installationId } = await fillDemo({
    services,
    verifier,
    url: 'http://gateway.test',
  });
  const operations = await prisma.operation.findMany({
    where: { projectId, actionType: 'READ', status: 'SUCCESS' },
    orderBy: { id: 'asc' },
  });
  const counts = operations.map(
    ({ metadata }) => (metadata as { progress: { recordsProcessed: number } }).progress,
  );
  const [first, ...later] = counts.map(({ recordsProcessed }) => recordsProcessed);
  // The server seeds the sandbox with 50 contacts.
  expect(first).toBe(50);
  expect(Math.max(...later)).toBeLessThanOrEqual(3);
  const contacts = await prisma.installedObject.findFirstOrThrow({
    where: { projectId, installationId, objectName: 'contacts' },
  });
  expect(contacts).toMatchObject({
    recordsRead: later.reduce((sum, count) => sum + count, first ?? 0),
    lastReadTime: operations.at(-1)?.createTime,
  });
});

test('contains the request of each failed operation', async () => {
  const { prisma } = services.database;
  const verifier = await createBearerVerifier(services.config);
  const { projectId } = await fillDemo({ services, verifier, url: 'http://gateway.test' });
  const failed = await prisma.operation.findMany({ where: { projectId, status: 'FAILURE' } });
  const requests = await prisma.recordedRequest.findMany({ where: { projectId } });
  expect(failed.length).toBeGreaterThan(0);
  expect(requests.map(({ operationId }) => operationId).sort()).toEqual(
    failed.map(({ id }) => id).sort(),
  );
});
