import { expect, test } from 'vitest';
import type { FieldDescription } from '../../../../src/providers/contract.ts';
import { DAY_MS } from '../../../../src/work/durations.ts';
import { getSharedApp } from '../../../support/app.ts';
import { createField } from './contracts.ts';

let time = new Date('2026-01-01T00:00:00Z');
const app = await getSharedApp({ now: () => time });
const { fieldLearner, database } = app.app.services;

async function createLearner() {
  const { projectId } = await app.createTenant();
  const object = { projectId, provider: 'sandbox', module: 'root', objectName: 'contacts' };
  return {
    async learn(...fields: Partial<FieldDescription>[]) {
      fieldLearner.learn(object, { fields: fields.map(createField) });
      await fieldLearner.waitUntilStored();
    },
    listRows: () =>
      database.prisma.learnedField.findMany({
        where: { projectId },
        orderBy: [{ fieldName: 'asc' }, { valueType: 'asc' }],
      }),
  };
}

test('stores each type of a field once', async () => {
  const { learn, listRows } = await createLearner();
  await learn({});
  await learn({}, { fieldName: 'phone' });
  await learn({ valueType: 'INT' });
  expect(await listRows()).toMatchObject([
    { fieldName: 'email', valueType: 'INT' },
    { fieldName: 'email', valueType: 'STRING' },
    { fieldName: 'phone', valueType: 'STRING' },
  ]);
});

test('stores a field as read-only or required only if it is so in every account', async () => {
  const { learn, listRows } = await createLearner();
  await learn({ readOnly: true, isRequired: true });
  expect(await listRows()).toMatchObject([{ readOnly: true, required: true }]);
  await learn({ readOnly: false, isRequired: true });
  expect(await listRows()).toMatchObject([{ readOnly: false, required: true }]);
  await learn({ readOnly: true, isRequired: false });
  expect(await listRows()).toMatchObject([{ readOnly: false, required: false }]);
});

test('updates the time of a type at most once a day', async () => {
  const { learn, listRows } = await createLearner();
  await learn({});
  const [email] = await listRows();
  time = new Date(time.getTime() + DAY_MS / 2);
  await learn({}, { fieldName: 'phone' });
  expect((await listRows())[0]).toEqual(email);
  time = new Date(time.getTime() + DAY_MS);
  await learn({}, { fieldName: 'score' });
  expect((await listRows())[0]?.lastSeenTime).toEqual(time);
});

test('ignores a field of a deleted project, and stores fields of other projects', async () => {
  const { learn, listRows } = await createLearner();
  const deletedProject = {
    projectId: 'prj_gone',
    provider: 'sandbox',
    module: 'root',
    objectName: 'deals',
  };
  fieldLearner.learn(deletedProject, { fields: [createField({})] });
  await learn({});
  expect(await listRows()).toHaveLength(1);
});
