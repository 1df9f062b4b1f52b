/** Writes through the API, to the sandbox that the app brings along. */

import { HANDLERS } from '../../../src/jobs/handlers.ts';
import { startJobs, type Work } from '../../../src/jobs/job-worker.ts';
import { recoverWritesSweep } from '../../../src/jobs/sweeps.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generate } from './connections.ts';
import { contentFor, installFor, integrate } from './integrations.ts';

export const WRITE = `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) {
    operationId successCount failureCount
    operation {
      id status result actionType integrationId installationId configId
      metadata { objects successfulRecordIds retry { attempts lastAttempt } }
    }
    result { success recordId data errors { message } }
    results { success recordId data errors { message } }
  }
}`;

/** What runs writes beside the API. */
export const WRITE_WORK: Work = {
  handlers: { 'run-write': HANDLERS['run-write'] },
  sweeps: [{ ...recoverWritesSweep, intervalMs: 200 }],
};

export function startWriteJobs({ app }: Pick<TestApp, 'app'>): Promise<AsyncDisposable> {
  return startJobs(app.services, WRITE_WORK);
}

export interface Writer extends Tenant {
  installationId: string;
  integrationId: string;
  connectionId: string;
  configId: string;
  /** The input of a creation of a contact, unless given otherwise. */
  input(given?: object): { input: object };
  /** The answer of writeRecords. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  write(given?: object): Promise<any>;
  /** The operation when it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  ended(operationId: string): Promise<any>;
}

export const WRITES = { objects: [{ objectName: 'contacts' }, { objectName: 'companies' }] };
const ENABLED = [
  { objectName: 'contacts', deletionEnabled: true },
  { objectName: 'companies', deletionEnabled: false },
];

/** A tenant with an integration that writes, installed for the group acme. */
export async function createWriter(
  app: TestApp,
  { content = {}, config = { write: ENABLED } }: { content?: object; config?: object } = {},
): Promise<Writer> {
  const tenant = await app.tenant();
  const whole = contentFor('crm', { read: undefined, write: WRITES, ...content });
  const integration = await integrate(app, tenant, whole);
  const installation = await installFor(tenant, integration, { config });
  await generate(tenant, { apiKey: 'sandbox-key' });
  const input = (given: object = {}) => ({
    input: {
      projectIdOrName: tenant.projectId,
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      objectName: 'contacts',
      type: 'CREATE',
      ...given,
    },
  });
  return {
    ...tenant,
    installationId: installation.id,
    integrationId: integration.id,
    connectionId: installation.connection.id,
    configId: installation.config.id,
    input,
    write: async (given) => (await tenant.query(WRITE, input(given))).writeRecords,
    async ended(operationId) {
      const { database, operationChanges } = app.app.services;
      const row = await database.prisma.operation.findFirstOrThrow({ where: { id: operationId } });
      let last = row;
      for await (const { node } of operationChanges.follow(row)) last = node;
      return last;
    },
  };
}

let made = 0;

/** A contact that no other is like. */
export function contact(given: object = {}): Record<string, unknown> {
  made += 1;
  return { email: `contact-${made}@example.com`, lastname: `Contact ${made}`, ...given };
}
