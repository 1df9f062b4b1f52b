/** Creates an installation that reads the sandbox, starts workers, and returns the results of reads. */
import { expect } from 'vitest';
import type { MessageHead, ResultEntry } from '../../../src/domain/operation/read/read-message.ts';
import { HANDLERS } from '../../../src/jobs/handlers.ts';
import { type BackgroundWork, startJobs } from '../../../src/jobs/job-worker.ts';
import { recoverReadsSweep, scheduleReadsSweep } from '../../../src/jobs/sweeps.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';

/** Reads take milliseconds. The timeout allows for a busy machine. */
export const POLLING = { timeout: 20_000, interval: 50 };

export const TRIGGER = `mutation ($input: TriggerReadInput!) {
  triggerRead(input: $input) { operation { id status actionType metadata { objects } } }
}`;

export const PAUSE = `mutation ($input: PauseReadsInput!) {
  pauseReads(input: $input) { installation { id objects { objectName paused pauseNote nextReadTime } } }
}`;

export const RESUME = `mutation ($input: ResumeReadsInput!) {
  resumeReads(input: $input) { installation { id objects { objectName paused pauseNote nextReadTime } } }
}`;

export const RECORDS = `query ($id: ID!, $objectName: String!, $filters: [RecordFilterInput!], $first: Int, $after: String) {
  node(id: $id) { ... on Installation {
    records(objectName: $objectName, filters: $filters, first: $first, after: $after) {
      edges { cursor node { id fields mappedFields raw } }
      nodes { id }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  } }
}`;

export type Message = MessageHead & {
  resultInfo: { type: string; numRecords: number };
  result: ResultEntry[];
};

/** A schedule that is due once a year, so that only the test starts reads. */
const YEARLY = '0 0 1 1 *';
const FAR_FUTURE = new Date('2100-01-01');

const WORK: BackgroundWork = {
  handlers: { 'run-read': HANDLERS['run-read'] },
  sweeps: [scheduleReadsSweep, recoverReadsSweep],
};

/** Starts workers that schedule and run reads in this process. */
export function startReadJobs({ app: { services } }: Pick<TestApp, 'app'>) {
  return startJobs(services, WORK);
}

/** Starts workers that run reads but schedule none. The test starts scheduled reads with `readOnSchedule`. */
export function startUnscheduledReadJobs({ app: { services } }: Pick<TestApp, 'app'>) {
  return startJobs(services, { ...WORK, sweeps: [recoverReadsSweep] });
}

/**
 * Installs an integration that reads contacts of the sandbox for the group `acme`. `given` replaces members
 * of its inputs.
 */
export async function installReads(
  app: TestApp,
  tenant: Tenant,
  overrides: { object?: object; config?: object; content?: object } = {},
) {
  const [contacts] = contentFor().read.objects;
  const read = { objects: [{ ...contacts, schedule: YEARLY, ...overrides.object }] };
  const integration = await integrate(
    app,
    tenant,
    contentFor('crm', { read, ...overrides.content }),
  );
  const connection = await generateConnection(tenant, { apiKey: 'sandbox-key-of-acme' });
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    ...(overrides.config && { config: overrides.config }),
  };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input })).createInstallation
    .installation;
  const { prisma } = app.app.services.database;
  const { projectId } = tenant;
  const where = (objectName: string) => ({ installationId: id, objectName });
  await prisma.installedObject.updateMany({
    where: { installationId: id, nextReadTime: { not: null } },
    data: { nextReadTime: FAR_FUTURE },
  });
  const findOperations = () =>
    prisma.operation.findMany({ where: { installationId: id }, orderBy: { id: 'asc' } });
  return {
    id,
    connection,
    integration,
    input: { projectIdOrName: projectId, installationId: id },
    trigger: { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' },
    object: (objectName = 'contacts') =>
      prisma.installedObject.findFirstOrThrow({ where: where(objectName) }),
    /** Makes the next read due now. */
    makeDue: (objectName = 'contacts') =>
      prisma.installedObject.updateMany({
        where: where(objectName),
        data: { nextReadTime: new Date(0) },
      }),
    operations: findOperations,
    /** Waits until there are `count` operations and all have ended. Returns them. */
    async waitForOperations(count: number) {
      const statuses = async () => (await findOperations()).map(({ status }) => status);
      await expect.poll(async () => (await statuses()).length, POLLING).toBe(count);
      await expect.poll(statuses, POLLING).not.toContain('IN_PROGRESS');
      return findOperations();
    },
    async messages(): Promise<Message[]> {
      const deliveries = await prisma.delivery.findMany({
        where: { projectId, operationId: { not: null } },
        orderBy: { id: 'asc' },
      });
      return deliveries.map(({ body }) => JSON.parse(body));
    },
  };
}

export type InstalledReads = Awaited<ReturnType<typeof installReads>>;
