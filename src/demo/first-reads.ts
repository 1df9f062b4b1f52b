/** Runs the first reads of a demo's new installation, which workers run for other installations. */
import { inTransaction } from '../database/transaction.ts';
import type { Services } from '../domain/call.ts';
import { continueRead } from '../domain/operation/read/continue-read.ts';
import { planWindow } from '../domain/operation/read/read-plan.ts';
import { startRun } from '../domain/operation/read/read-run.ts';

/** Reads each object that is due and has not been read. */
export async function runFirstReads(
  services: Services,
  { projectId, installationId }: { projectId: string; installationId: string },
): Promise<void> {
  const { database, now } = services;
  const { objects, ...installation } = await database.prisma.installation.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: installationId } },
    include: { objects: { where: { backfillOperationId: null, nextReadTime: { not: null } } } },
  });
  for (const object of objects) {
    const { objectName } = object;
    const { id: operationId } = await inTransaction(database, async (tx) => {
      const window = planWindow(object, null, now());
      const operation = await startRun(tx, { installation, objectName, ...window });
      await tx.installedObject.update({
        where: {
          projectId_installationId_objectName: { projectId, installationId, objectName },
        },
        data: { backfillOperationId: operation.id, nextReadTime: null },
      });
      return operation;
    });
    await continueRead(services, { projectId, operationId }, new AbortController().signal);
  }
}
