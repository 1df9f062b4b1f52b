import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/demo.ts';
import { createRunner } from '../../src/demo/runner.ts';
import { createBearerVerifier, LOCAL_ISSUER } from '../../src/domain/viewer/bearer.ts';
import { sharedApp, testApp } from '../support/app.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

const app = await sharedApp({ env: { DATA_DIR } });
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
  await using used = await testApp({ env: { DEMO: undefined } });
  await used.tenant();
  await used.app.start();
  const records = await fetch(`${used.app.services.sandboxUrl()}/objects/contacts/records`);
  expect(await records.json()).toMatchObject({ total: 50 });
  expect(await used.app.services.database.prisma.project.count({ where: { name: 'demo' } })).toBe(
    0,
  );
});
