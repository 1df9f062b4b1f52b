import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { startUnscheduledReadJobs } from '../../../support/fixtures/reads.ts';
import { readOnSchedule } from '../../../support/fixtures/rest-reads.ts';
import { createRestInstallation } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();
app.app.sandbox.seed('contacts', 12);

const read = {
  objects: [
    {
      objectName: 'contacts',
      destination: 'records',
      mapToName: 'people',
      schedule: '*/10 * * * *',
      requiredFields: [{ fieldName: 'email' }],
    },
  ],
};

test("returns the backfill's progress by either name, and keeps it after later reads", async () => {
  const rest = await createRestInstallation(app, { content: { read } });
  const createPath = (name: string) => `${rest.installationPath}/objects/${name}/backfill-progress`;
  const refusal = await rest.expectRefusal('GET', createPath('contacts'));
  expect(refusal).toMatchObject({ status: 404, detail: expect.stringContaining('first read') });
  expect(await rest.expectRefusal('GET', createPath('deals'))).toMatchObject({ status: 404 });

  await using _workers = await startUnscheduledReadJobs(app);
  await readOnSchedule(app, rest);
  const progress = await rest.get(createPath('contacts'));
  const [operation] = (await rest.get(`${rest.installationPath}/operations`)).results;
  expect(progress).toEqual({
    installationId: rest.installation.id,
    objectName: 'contacts',
    operationId: operation.id,
    recordsProcessed: 12,
    recordsEstimatedTotal: 12,
    createTime: operation.createTime,
    updateTime: expect.any(String),
  });
  expect(await rest.get(createPath('people'))).toEqual(progress);
  await readOnSchedule(app, rest);
  expect(await rest.get(createPath('contacts'))).toEqual(progress);

  const { node } = await rest.tenant.query(
    `query GetInstallation($id: ID!) { node(id: $id) { ... on Installation {
      objects { backfillOperation { id metadata { progress { recordsProcessed } } } }
    } } }`,
    { id: rest.installation.id },
  );
  expect(node.objects).toEqual([
    {
      backfillOperation: { id: operation.id, metadata: { progress: { recordsProcessed: 12 } } },
    },
  ]);
});
