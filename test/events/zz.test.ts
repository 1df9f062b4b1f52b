import { expect, test } from 'vitest';
import { createFeed } from '../../src/events/feed.ts';
import { readEnds } from '../../src/events/log.ts';
import { createLog } from '../../src/log.ts';
import { testDatabase } from '../support/app.ts';
import { createEventLog, nameOf, names, record, recordAll, take } from '../support/event-log.ts';
const log = createLog('silent');
const database = await testDatabase(log);
const feed = createFeed(database, log);
test('x', async () => {
  const t=performance.now(); const T=(s: string)=>console.log(s, Math.round(performance.now()-t));
  const { projectId } = await createEventLog(database);
  T('log');
  database.listen('gateway_events', p=>T('hint '+p));
  const end = (await readEnds(database, [projectId])).get(projectId) ?? 0n;
  const f = feed.follow(projectId, {after: end, end, filter: {}});
  T('follow');
  for (let i=0;i<3;i++) {
  const n = f.next();
  await record(database, {projectId, name: 'a'});
  T('recorded');
  await n; T('got');
  }
  await feed[Symbol.asyncDispose](); T('disposed')
  expect(1).toBe(1);
});
