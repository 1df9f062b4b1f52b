/** Reads in tests: an installation that reads the sandbox, workers, and what came of the reads. */
import { expect } from 'vitest';
import type { MessageHead, ResultEntry } from '../../../src/domain/operation/read/read-message.ts';
import { HANDLERS } from '../../../src/jobs/handlers.ts';
import { startJobs, type Work } from '../../../src/jobs/job-worker.ts';
import { recoverReadsSweep, scheduleReadsSweep } from '../../../src/jobs/sweeps.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generate } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';

/** Reads are short; a machine that is busy with other tests is slow. */
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

/** Nothing is due while a test runs: the next run is up to a year away, and a test decides when the first read starts. */
const SELDOM = '0 0 1 1 *';
const LATER = new Date('2100-01-01');

const WORK: Work = {
  handlers: { 'run-read': HANDLERS['run-read'] },
  sweeps: [scheduleReadsSweep, recoverReadsSweep],
};

/** Workers that start and run reads in this process. */
export function startReading({ app: { services } }: Pick<TestApp, 'app'>) {
  return startJobs(services, WORK);
}

/** Workers that run reads and start none by a schedule: the test starts them with `readOnSchedule`. */
export function startReadingUnscheduled({ app: { services } }: Pick<TestApp, 'app'>) {
  return startJobs(services, { ...WORK, sweeps: [recoverReadsSweep] });
}

/** An installation for the group acme that reads contacts of the sandbox, unless given otherwise. */
export async function installReading(
  app: TestApp,
  tenant: Tenant,
  given: { object?: object; config?: object; content?: object } = {},
) {
  const [contacts] = contentFor().read.objects;
  const read = { objects: [{ ...contacts, schedule: SELDOM, ...given.object }] };
  const integration = await integrate(app, tenant, contentFor('crm', { read, ...given.content }));
  const connection = await generate(tenant, { apiKey: 'sandbox-key-of-acme' });
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    ...(given.config && { config: given.config }),
  };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input })).createInstallation
    .installation;
  const { prisma } = app.app.services.database;
  const { projectId } = tenant;
  const where = (objectName: string) => ({ installationId: id, objectName });
  await prisma.installedObject.updateMany({
    where: { installationId: id, nextReadTime: { not: null } },
    data: { nextReadTime: LATER },
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
    /** Its next read is now. */
    makeDue: (objectName = 'contacts') =>
      prisma.installedObject.updateMany({
        where: where(objectName),
        data: { nextReadTime: new Date(0) },
      }),
    operations: findOperations,
    /** The operations once there are so many and all of them have ended. */
    async ended(count: number) {
      const statuses = async () => (await findOperations()).map(({ status }) => status);
      await expect.poll(async () => (await statuses()).length, POLLING).toBe(count);
      await expect.poll(statuses, POLLING).not.toContain('IN_PROGRESS');
      return findOperations();
    },
    async messages(): Promise<Message[]> {
      const owed = await prisma.delivery.findMany({
        where: { projectId, operationId: { not: null } },
        orderBy: { id: 'asc' },
      });
      return owed.map(({ body }) => JSON.parse(body));
    },
  };
}

export type Reading = Awaited<ReturnType<typeof installReading>>;
