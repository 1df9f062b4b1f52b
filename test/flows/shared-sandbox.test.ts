/** All processes of a PostgreSQL database share one sandbox, which one process runs. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { getDatabaseUrl, startGateway as startGatewayProcess } from '../faults/fixtures/gateway.ts';
import { createTestDatabase, onPostgres } from '../support/app.ts';
import { startGateway } from '../support/backup/copied-databases.ts';
import { createClient, fetchFrom } from '../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';

const WAITING = { timeout: 60_000, interval: 50 };
const EMAIL = 'written-by-the-api@example.test';

const WRITE_RECORDS = `mutation WriteRecords { writeRecords(input: {
  projectIdOrName: "demo", integrationIdOrName: "crm-sync", groupRef: "acme"
  objectName: "people", type: CREATE
  records: { record: { emailAddress: "${EMAIL}", firstname: "Api", lastname: "Writer" } }
}) { result { success errors { message } } } }`;
const TRIGGER_READ = `mutation TriggerRead { triggerRead(input: {
  projectIdOrName: "demo", integrationIdOrName: "crm-sync", objectName: "contacts", groupRef: "acme"
}) { operation { id } } }`;

/** Starts the API as a separate process, which can be killed, and the worker in this process. */
async function startApiAndWorker() {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-roles-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const sharedEnv = {
    DATABASE_URL: await getDatabaseUrl(database),
    DATA_DIR: dataDir,
    DEMO: 'true',
    ENCRYPTION_KEY,
  };
  const api = await startGatewayProcess({ ...sharedEnv, ROLES: 'api' });
  const worker = await startGateway(sharedEnv, { ROLES: 'worker' });
  onTestFinished(() => worker[Symbol.asyncDispose]());
  const { apiKey, sandboxUrl } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  const { query } = createClient(fetchFrom(api.url), { 'x-api-key': apiKey });
  const readSandbox = async (path: string) => (await fetch(`${sandboxUrl}${path}`)).text();
  return { api, query, readSandbox };
}

test.runIf(onPostgres)(
  'shares records between the api and the worker, and restarts the sandbox after a kill',
  { timeout: 120_000 },
  async () => {
    const { api, query, readSandbox } = await startApiAndWorker();
    expect(await query(WRITE_RECORDS)).toEqual({
      writeRecords: { result: { success: true, errors: expect.toBeOneOf([null, []]) } },
    });
    await query(TRIGGER_READ);
    await vi.waitFor(
      async () => expect(await readSandbox('/inbox/records')).toContain(EMAIL),
      WAITING,
    );

    await api.kill();
    await vi.waitFor(async () => {
      const { total } = JSON.parse(await readSandbox('/objects/contacts/records?limit=1'));
      expect(total).toBe(50);
    }, WAITING);
  },
);
