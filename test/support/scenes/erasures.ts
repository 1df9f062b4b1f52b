/**
 * Creates a project and a customer that uses every feature, and finds the rows that still mention the
 * customer.
 */
import { expect } from 'vitest';
import { HANDLERS } from '../../../src/jobs/handlers.ts';
import { type BackgroundWork, startJobs } from '../../../src/jobs/job-worker.ts';
import type { Tenant, TestApp } from '../app.ts';
import { CLIENT_ID, createProviderApp } from '../providers/oauth.ts';
import { generateConnection, keepEvents } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';
import { POLLING, TRIGGER } from './reads.ts';
import { createStream } from './streams.ts';
import { WRITE } from './writes.ts';

const WORK: BackgroundWork = {
  handlers: {
    'run-read': HANDLERS['run-read'],
    'run-write': HANDLERS['run-write'],
    'run-erasure': HANDLERS['run-erasure'],
  },
  sweeps: [],
};

/** Starts workers for every job that this module's requests enqueue. */
export function startAllJobs({ app }: Pick<TestApp, 'app'>): Promise<AsyncDisposable> {
  return startJobs(app.services, WORK);
}

export interface Customer {
  groupRef: string;
  consumerRef: string;
}

/** Creates a tenant whose events and records go to a webhook that does not respond, and to a stream. */
export async function createErasureTenant(app: TestApp, name?: string) {
  const tenant = await app.tenant(name);
  await keepEvents(app, tenant);
  await createProviderApp(tenant);
  const write = { objects: [{ objectName: 'contacts' }] };
  const integration = await integrate(app, tenant, contentFor('crm', { write }));
  const { prisma } = app.app.services.database;
  const { projectId } = tenant;
  const [topic] = await prisma.topic.findMany({ where: { projectId } });
  const [destination] = await prisma.destination.findMany({ where: { projectId } });
  await prisma.topicDestinationRoute.create({
    data: {
      id: `tdr_${projectId.slice(4)}`,
      projectId,
      topicId: topic?.id ?? '',
      destinationId: destination?.id ?? '',
    },
  });
  await createStream(app.app.services.database, {
    projectId,
    name: 'stream',
    topicId: topic?.id ?? '',
  });
  return { ...tenant, integrationId: integration.id as string, destinationId: destination?.id };
}

/**
 * Connects the customer with tokens, installs, reads and writes, so that each table has rows with the
 * customer's names.
 */
export async function useEverything(
  app: TestApp,
  tenant: Tenant,
  { groupRef, consumerRef }: Customer,
): Promise<{ connectionId: string; installationId: string; operationIds: string[] }> {
  const granted = app.app.sandbox.oauth.issueToUser(CLIENT_ID, 'sandbox-user', '');
  const tokens = {
    accessToken: { token: granted.access_token },
    refreshToken: { token: granted.refresh_token },
  };
  const names = { groupName: `Name of ${groupRef}`, consumerName: `Name of ${consumerRef}` };
  const customerMembers = { groupRef, consumerRef, ...names };
  const connection = await generateConnection(tenant, {
    ...customerMembers,
    oauth2AuthorizationCode: tokens,
  });
  const target = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', groupRef };
  const installed = await tenant.query(CREATE_INSTALLATION, {
    input: { ...target, connectionId: connection.id },
  });
  const { triggerRead } = await tenant.query(TRIGGER, {
    input: { ...target, objectName: 'contacts' },
  });
  // All groups read the same sandbox account. No other group's record has this value.
  const record = { email: `${crypto.randomUUID()}@example.com`, lastname: groupRef };
  const write = {
    ...target,
    objectName: 'contacts',
    type: 'CREATE',
    mode: 'ASYNCHRONOUS',
    records: { record },
  };
  const { writeRecords } = await tenant.query(WRITE, {
    input: { ...write, idempotencyKey: `key of ${groupRef}` },
  });
  const operationIds = [triggerRead.operation.id, writeRecords.operationId];
  const { prisma } = app.app.services.database;
  const statuses = async () => {
    const rows = await prisma.operation.findMany({ where: { id: { in: operationIds } } });
    return rows.map(({ status }) => status);
  };
  await expect.poll(statuses, POLLING).toEqual(['SUCCESS', 'SUCCESS']);
  const { id: installationId } = installed.createInstallation.installation;
  return { connectionId: connection.id, installationId, operationIds };
}

/** Returns every row of the database that contains the mark, as text after the name of its table. */
export async function findRowsWithMark(
  { app }: Pick<TestApp, 'app'>,
  mark: string,
): Promise<string[]> {
  const { query } = app.services.database.rows;
  const tables = await query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'pgboss') order by 1`,
    [],
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const rows = await query<{ line: string }>(
      `select t::text as line from ${name} t where position($1 in t::text) > 0`,
      [mark],
    );
    lines.push(...rows.map(({ line }) => `${name} ${line}`));
  }
  return lines;
}
