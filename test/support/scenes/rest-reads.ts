/** Runs reads of an installation that was created over REST, and returns their records. */
import { expect } from 'vitest';
import type { ResultEntry } from '../../../src/domain/operation/read/read-message.ts';
import { startDueReads } from '../../../src/domain/operation/read/schedule.ts';
import type { TestApp } from '../app.ts';
import type { RestInstallation } from '../rest/rest-installation.ts';
import { POLLING } from './reads.ts';

/** Triggers a read and returns its records. Needs running workers. */
export async function readNow(
  app: TestApp,
  rest: Pick<RestInstallation, 'integrationPath' | 'post'>,
  objectName = 'contacts',
): Promise<ResultEntry[]> {
  const body = { groupRef: 'acme', mode: 'async' };
  const path = `${rest.integrationPath}/objects/${objectName}:read`;
  return waitForRecords(app, (await rest.post(path, body)).operationId);
}

/**
 * Starts the scheduled read of the installation and returns its records. Workers must not schedule reads
 * themselves.
 */
export async function readOnSchedule(
  app: TestApp,
  { installation: { id } }: Pick<RestInstallation, 'installation'>,
): Promise<ResultEntry[]> {
  const { services } = app.app;
  const { prisma } = services.database;
  const before = await prisma.operation.count({ where: { installationId: id } });
  await prisma.installedObject.updateMany({
    where: { installationId: id },
    data: { nextReadTime: new Date(0) },
  });
  await startDueReads(services);
  const list = () =>
    prisma.operation.findMany({
      where: { installationId: id },
      orderBy: { id: 'asc' },
      skip: before,
    });
  // A worker may have started the read, and not have committed yet.
  await expect.poll(list).toHaveLength(1);
  const [operation] = await list();
  return waitForRecords(app, operation?.id ?? '');
}

async function waitForRecords({ app }: TestApp, operationId: string): Promise<ResultEntry[]> {
  const { prisma } = app.services.database;
  const status = async () =>
    (await prisma.operation.findFirstOrThrow({ where: { id: operationId } })).status;
  await expect.poll(status, POLLING).toBe('SUCCESS');
  const deliveries = await prisma.delivery.findMany({
    where: { operationId },
    orderBy: { id: 'asc' },
  });
  return deliveries.flatMap(({ body }) => (JSON.parse(body) as { result: ResultEntry[] }).result);
}
