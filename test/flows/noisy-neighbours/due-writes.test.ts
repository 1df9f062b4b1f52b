/**
 * Thousands of due writes of one installation, whose provider hangs, leave slots to the writes of others.
 *
 * @module-tag all/rows
 */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';

const app = await getSharedApp();
const { sandbox, services } = app.app;
const query = toQuery(services.database);

const DUE_WRITES = 10_000;
const ROWS_PER_INSERT = 2_500;
/** The slots of a process for the writes of one installation. */
const PLACES = 24;

/** Stores due writes of companies. They became due a minute ago. */
async function insertDueWrites({ projectId, installationId, integrationId, configId }: Writer) {
  const { groupId } = await services.database.prisma.installation.findFirstOrThrow({
    where: { id: installationId },
  });
  const id = `'opr_' || lpad(n::text, 26, '0')`;
  const rows = `from generate_series($2::int + 1, $2 + ${ROWS_PER_INSERT}) n`;
  for (let offset = 0; offset < DUE_WRITES; offset += ROWS_PER_INSERT) {
    await query(
      `insert into "Operation" ("id", "projectId", "groupId", "integrationId", "installationId", "configId",
         "actionType", "status", "metadata")
       select ${id}, $1, $3, $4, $5, $6, 'WRITE', 'IN_PROGRESS', '{}' ${rows}`,
      [projectId, offset, groupId, integrationId, installationId, configId],
    );
    await query(
      `insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode", "recordCount",
         "dueTime", "deadlineTime")
       select ${id}, $1, $3, 'companies', 'CREATE', 'ASYNCHRONOUS', 1, now() - interval '1 minute',
         now() + interval '1 hour' ${rows}`,
      [projectId, offset, installationId],
    );
    await query(
      `insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record")
       select ${id}, 0, $1, ${id}, '{"name": "Acme"}' ${rows}`,
      [projectId, offset],
    );
  }
}

test('attempts a write while thousands of due writes of another installation wait', async () => {
  const [greedy, other] = [await createWriter(app), await createWriter(app)];
  await insertDueWrites(greedy);
  sandbox.faults.set({ pathPrefix: '/objects/companies', delayMs: 60_000, times: 1_000 });
  await using _jobs = await startWriteJobs(app);
  const where = { projectId: greedy.projectId, attempts: { gt: 0 } };
  await expect.poll(() => services.database.prisma.writeTask.count({ where })).toBe(PLACES);
  const { operationId } = await other.write({ mode: 'ASYNCHRONOUS', record: createContact() });
  expect(await other.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  expect(await services.database.prisma.writeTask.count({ where })).toBe(PLACES);
});
