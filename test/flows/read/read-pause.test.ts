import { expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/operation/read/schedule.ts';
import { sharedApp } from '../../support/app.ts';
import { contentFor } from '../../support/scenes/integrations.ts';
import { installReading, PAUSE, RESUME, startReading } from '../../support/scenes/reads.ts';

const app = await sharedApp();
const { services, sandbox } = app.app;
sandbox.seed('contacts', 10);

const [contacts] = contentFor().read.objects;
const objects = [
  { ...contacts, mapToName: 'people' },
  { ...contacts, objectName: 'deals', requiredFields: [{ fieldName: 'name' }] },
];
const content = { read: { objects } };

async function paused(reading: Awaited<ReturnType<typeof installReading>>) {
  return Promise.all(
    ['contacts', 'deals'].map(async (name) => {
      const { paused, pauseNote, nextReadTime } = await reading.object(name);
      return { paused, pauseNote, isScheduled: nextReadTime !== null };
    }),
  );
}

const READ = { paused: false, pauseNote: null, isScheduled: true };

test('all objects are paused, with a note, and resumed', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  const { pauseReads } = await tenant.query(PAUSE, { input: { ...reading.input, note: 'moving' } });
  const stopped = { paused: true, pauseNote: 'moving', nextReadTime: null };
  expect(pauseReads.installation.objects).toEqual([
    { objectName: 'contacts', ...stopped },
    { objectName: 'deals', ...stopped },
  ]);
  await reading.makeDue();
  await startDueReads(services);
  expect(await reading.operations()).toEqual([]);

  const { resumeReads } = await tenant.query(RESUME, {
    input: { ...reading.input, note: 'moved' },
  });
  const going = { paused: false, pauseNote: 'moved', nextReadTime: expect.any(String) };
  expect(resumeReads.installation.objects).toEqual([
    { objectName: 'contacts', ...going },
    { objectName: 'deals', ...going },
  ]);
});

test('objects are paused by either name, and the others go on', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  await tenant.query(PAUSE, { input: { ...reading.input, objects: ['people'] } });
  const stopped = { paused: true, pauseNote: null, isScheduled: false };
  expect(await paused(reading)).toEqual([stopped, READ]);
  await tenant.query(PAUSE, { input: { ...reading.input, objects: ['deals'] } });
  await tenant.query(RESUME, { input: { ...reading.input, objects: ['contacts'] } });
  expect(await paused(reading)).toEqual([READ, stopped]);
});

test('pausing what is paused and resuming what is not change nothing', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  await tenant.query(RESUME, { input: { ...reading.input, note: 'unneeded' } });
  expect(await paused(reading)).toEqual([READ, READ]);
  await tenant.query(PAUSE, { input: { ...reading.input, note: 'first' } });
  const once = await paused(reading);
  await tenant.query(PAUSE, { input: { ...reading.input, note: 'second' } });
  expect(await paused(reading)).toEqual(once);
});

test('a read that has begun when its object is paused comes to its end', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  await reading.makeDue();
  await startDueReads(services);
  await tenant.query(PAUSE, { input: reading.input });
  await using _workers = await startReading(app);
  expect(await reading.ended(1)).toMatchObject([{ status: 'SUCCESS' }]);
  expect(await reading.object()).toMatchObject({ paused: true, nextReadTime: null });
});

test('unknown objects are named by their places, and nothing is paused', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  const names = ['contacts', 'planets', 'people', 'moons'];
  for (const mutation of [PAUSE, RESUME]) {
    const about = { input: { ...reading.input, objects: names } };
    const { code, problem } = await tenant.refusal(mutation, about);
    expect(code).toBe('BAD_USER_INPUT');
    const detail = 'is not an object that the installation reads.';
    expect(problem.issues).toEqual([
      { in: 'body', name: 'input.objects[1]', detail, value: 'planets' },
      { in: 'body', name: 'input.objects[3]', detail, value: 'moons' },
    ]);
  }
  expect(await paused(reading)).toEqual([READ, READ]);
});

test('it needs the scope reads:control, and an installation of the own project', async () => {
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, { content });
  const other = await app.tenant();
  const reader = await tenant.withScopes('read', 'installations:write');
  for (const mutation of [PAUSE, RESUME]) {
    expect((await reader.refusal(mutation, { input: reading.input })).code).toBe('FORBIDDEN');
    const foreign = { ...reading.input, projectIdOrName: other.projectId };
    expect((await other.refusal(mutation, { input: foreign })).code).toBe('NOT_FOUND');
  }
  expect(await paused(reading)).toEqual([READ, READ]);
});
