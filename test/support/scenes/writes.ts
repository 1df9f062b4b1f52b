/** Writes records through the API to the sandbox that the app serves. */

import { HANDLERS } from '../../../src/jobs/handlers.ts';
import { type BackgroundWork, startJobs } from '../../../src/jobs/job-worker.ts';
import { recoverWritesSweep } from '../../../src/jobs/sweeps.ts';
import type { Tenant, TestApp } from '../app.ts';
import { inGroups } from '../inputs/graphql-input.ts';
import { generateConnection } from './connections.ts';
import { contentFor, installFor, integrate } from './integrations.ts';

export const WRITE = `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) {
    operationId successCount failureCount
    operation {
      id status result actionType integrationId installationId configId
      metadata { objects successfulRecordIds retry { attempts lastAttemptTime } }
    }
    result { success recordId data errors { message } }
    results { success recordId data errors { message } }
  }
}`;

/** Background work that runs writes. */
const WRITE_WORK: BackgroundWork = {
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
  /** Returns the variables of a write. Default: creates a contact. */
  input(members?: object): { input: object };
  /** Writes records and returns the result of `writeRecords`. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  write(members?: object): Promise<any>;
  /** Waits until the operation has ended. Returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asked for
  waitForOperation(operationId: string): Promise<any>;
}

export const WRITES = { objects: [{ objectName: 'contacts' }, { objectName: 'companies' }] };
const ENABLED = [
  { objectName: 'contacts', deletionEnabled: true },
  { objectName: 'companies', deletionEnabled: false },
];

/** Creates a tenant with an integration that writes, installed for the group `acme`. */
export async function createWriter(
  app: TestApp,
  { content = {}, config = { write: ENABLED } }: { content?: object; config?: object } = {},
): Promise<Writer> {
  const tenant = await app.tenant();
  const wholeContent = contentFor('crm', { read: undefined, write: WRITES, ...content });
  const integration = await integrate(app, tenant, wholeContent);
  const installation = await installFor(tenant, integration, { config });
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const input = (members: object = {}) => ({
    input: inGroups({
      projectIdOrName: tenant.projectId,
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      objectName: 'contacts',
      type: 'CREATE',
      ...members,
    }),
  });
  return {
    ...tenant,
    installationId: installation.id,
    integrationId: integration.id,
    connectionId: installation.connection.id,
    configId: installation.config.id,
    input,
    write: async (members) => (await tenant.query(WRITE, input(members))).writeRecords,
    async waitForOperation(operationId) {
      const { database, operationChanges } = app.app.services;
      const row = await database.prisma.operation.findFirstOrThrow({ where: { id: operationId } });
      let lastRow = row;
      for await (const { node } of operationChanges.follow(row)) lastRow = node;
      return lastRow;
    },
  };
}

let contactCount = 0;

/** Returns a contact with a unique email and name. */
export function contact(members: object = {}): Record<string, unknown> {
  contactCount += 1;
  return {
    email: `contact-${contactCount}@example.com`,
    lastname: `Contact ${contactCount}`,
    ...members,
  };
}
