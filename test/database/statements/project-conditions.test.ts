/** Every test checks that each of its statements names its project. This file tests that check. */
import { expect, test } from 'vitest';
import {
  acrossProjects,
  bindProjects,
  forProjects,
} from '../../../src/database/statements/projects/all-projects.ts';
import { listMissingConditions } from '../../support/database/project-conditions.ts';

test.each([
  'select * from "Topic" where "projectId" = $1 and "id" = $2',
  'select * from "Topic" where "projectId" = any($1)',
  'select * from "Org" where "id" = $1',
  'select 1 from "ApiKey" where "hash" = $1',
  'select 1 from "Topic" t join "EventTopicRoute" r on r."projectId" = t."projectId" and r."topicId" = t."id" where t."projectId" = $1',
  'select 1 from "Connection" c join "ProviderStream" s using ("projectId", "connectionId") where c."projectId" = $1',
  'select 1 from "Topic" t where ("projectId", "id") in (select a, b from unnest($1::text[], $2::text[]) g(a, b))',
  'select 1 from unnest($1::text[]) g("id") cross join lateral (select 1 from "Delivery" d where d."projectId" = g."id" limit 1) one',
  'select 1 from "Topic" where "projectId" in (select "id" from "Project" where "orgId" = any($1))',
  'select 1 from "Topic" where ("projectId" = $1 and "id" = $2) or ("projectId" = $3 and "id" = $4)',
  'with due as (select "projectId", "id" from "Delivery" where "projectId" = $1) update "Delivery" d set "body" = $2 from due where d."projectId" = due."projectId" and d."id" = due."id"',
  'delete from "Topic" where "projectId" = $1 and ctid = any(array(select ctid from "Topic" where "projectId" = $1))',
  'select 1 from "Topic" where ("projectId", "id") between ($1, $2) and ($1, $2)',
  'select 1 from unnest($1::text[]) g("id"), lateral (select 1 from "Delivery" where ("projectId", "createTime") between (g."id", $2) and (g."id", $3)) one',
  'insert into "Topic" ("projectId", "id") values ($1, $2)',
])('accepts: %s', (text) => {
  expect(listMissingConditions(text)).toEqual([]);
});

test.each([
  ['select * from "Topic" where "id" = $1', ['reads Topic']],
  ['select * from "Topic" where "projectId" <> $1', ['reads Topic']],
  ['select * from "Topic" where "projectId" = $1 or "id" = $2', ['reads Topic']],
  [
    'select 1 from "Topic" t, "Destination" d where t."projectId" = d."projectId"',
    ['reads Topic', 'reads Destination'],
  ],
  [
    'select 1 from "Topic" t join "EventTopicRoute" r on r."topicId" = t."id" where t."projectId" = $1',
    ['reads EventTopicRoute'],
  ],
  [
    'select exists (select 1 from "Delivery" where "eventId" = $1) from "Topic" where "projectId" = $2',
    ['reads Delivery'],
  ],
  [
    'select 1 from "Topic" where ("projectId", "id") between ($1, $2) and ($3, $2)',
    ['reads Topic'],
  ],
  ['select 1 from "Topic" where "projectId" between $1 and $2', ['reads Topic']],
  ['with t as (select "id" from "Topic") select 1 from t', ['reads Topic']],
  ['update "Topic" set "name" = $1 where "id" = $2', ['updates Topic']],
  [
    'update "Topic" t set "name" = $1 from unnest($2::text[]) g("id") where t."id" = g."id"',
    ['updates Topic'],
  ],
  [
    'delete from "Topic" where ctid = any(array(select ctid from "Topic" where "projectId" = $1))',
    ['deletes Topic'],
  ],
  ['insert into "Topic" ("id") values ($1)', ['inserts into Topic']],
])('reports the table without a condition: %s', (text, missingConditions) => {
  expect(listMissingConditions(text)).toEqual(missingConditions);
});

test('accepts a marked statement across all projects, unless it changes rows without their project', () => {
  const due = 'select "projectId", "id" from "Delivery" where "nextAttemptTime" <= now()';
  const createChange = (condition: string) =>
    acrossProjects(
      'due',
      () => `with due as (${due}) update "Delivery" d set "body" = '' from due where ${condition}`,
    ).forAll.text;
  expect(listMissingConditions(acrossProjects('due', () => due).forAll.text)).toEqual([]);
  expect(
    listMissingConditions(createChange('d."projectId" = due."projectId" and d."id" = due."id"')),
  ).toEqual([]);
  expect(listMissingConditions(createChange('d."id" = due."id"'))).toEqual(['updates Delivery']);
});

test('appends the project IDs as the last value, so that the statement needs no mark', () => {
  const due = forProjects(
    (inProjects) =>
      `select 1 from "Delivery" where ${inProjects('"projectId"')} and "nextAttemptTime" between $1 and $2`,
  );
  const times = [new Date(0), new Date(1)];
  expect(bindProjects(due, null, times)).toEqual([due.forAll, times]);
  expect(listMissingConditions(due.forAll.text)).toEqual(['reads Delivery']);
  const [{ text }, values] = bindProjects(due, ['prj_a'], times);
  expect(text).toContain('"projectId" = any($3::text[])');
  expect(values).toEqual([...times, ['prj_a']]);
  expect(listMissingConditions(text)).toEqual([]);
});
