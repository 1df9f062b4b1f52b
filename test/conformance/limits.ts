/** Rules for limits. Each check sends the last accepted value and the first refused value. */
import { expect } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import { createProjectBody } from '../support/conformance/fresh-resources.ts';
import { queryNode } from '../support/conformance/graphql-field.ts';
import { ACCEPTED, createOutcomeRule, matchRefusal } from '../support/conformance/outcome.ts';
import type { Rule, Section } from '../support/conformance/rule.ts';
import { insertRows } from '../support/database/insert-rows.ts';
import { projectBody } from './bodies.ts';
import { writeBody } from './bodies-of-writes.ts';

/** Inserts `count` operations for the fixture's installation. */
async function insertOperations({ app, tenant, installation }: Fixture, count: number) {
  const { projectId } = tenant;
  const { id: installationId, integrationId } = installation;
  const createRow = () => ({ id: newId('opr'), projectId, installationId, integrationId });
  await insertRows(app).operations(Array.from({ length: count }, createRow));
}

const fetchPageLength = async ({ get, installationPath }: Fixture, query: string) =>
  (await get(`${installationPath}/operations${query}`)).results.length;
const queryPageLength = async ({ tenant, installation: { id } }: Fixture, args: string) => {
  const selection = `operations${args} { nodes { id } }`;
  return (await queryNode(tenant, { id, type: 'Installation', selection })).operations.nodes.length;
};

const pageRules: Rule[] = [
  {
    title: 'A page of a list has at most 200 items by default.',
    rest: async (fixture) => {
      await insertOperations(fixture, 201);
      expect(await fetchPageLength(fixture, '')).toBe(200);
    },
  },
  {
    title: 'The caller can set a page size of 1 to 1000 items.',
    rest: async (fixture) => {
      await insertOperations(fixture, 2);
      expect(await fetchPageLength(fixture, '?pageSize=1')).toBe(1);
      expect(await fetchPageLength(fixture, '?pageSize=1000')).toBeGreaterThan(1);
      for (const size of [0, 1001]) {
        const path = `${fixture.installationPath}/operations?pageSize=${size}`;
        expect(await fixture.expectRefusal('GET', path)).toMatchObject({
          status: 400,
          issues: [{ name: 'pageSize' }],
        });
      }
    },
    graphql: async (fixture) => {
      await insertOperations(fixture, 2);
      expect(await queryPageLength(fixture, '(first: 1)')).toBe(1);
      expect(await queryPageLength(fixture, '(first: 1000)')).toBeGreaterThan(1);
      for (const size of [0, 1001]) {
        const query = `{ viewer { project { operations(first: ${size}) { nodes { id } } } } }`;
        expect(await fixture.tenant.expectRefusal(query)).toMatchObject({ code: 'BAD_USER_INPUT' });
      }
    },
  },
  {
    title:
      'A page with `pagination.done` false is not the last page. Its `nextPageToken` is the `pageToken` of the next page.',
    rest: async (fixture) => {
      await insertOperations(fixture, 3);
      const path = `${fixture.installationPath}/operations?pageSize=2`;
      const { results, pagination } = await fixture.get(path);
      expect(pagination).toEqual({ done: false, nextPageToken: expect.any(String) });
      const nextPage = await fixture.get(`${path}&pageToken=${pagination.nextPageToken}`);
      const ids = [...results, ...nextPage.results].map(({ id }: { id: string }) => id);
      expect(ids.length).toBeGreaterThan(2);
      expect(new Set(ids).size).toBe(ids.length);
      const lastPage = await fixture.get(`${fixture.installationPath}/operations?pageSize=1000`);
      expect(lastPage.pagination).toEqual({ done: true });
    },
  },
];

const createBatch = (length: number) => ({
  groupRef: 'acme',
  type: 'create',
  batch: Array.from({ length }, () => ({ record: createMappedContact() })),
});

/** Returns a rule that creates a project with each value of `member`. */
const createLengthRule = (
  member: string,
  acceptedValues: string[],
  refusedValues: string[],
  title: string,
) =>
  createOutcomeRule(title, projectBody, async (fetchOutcome, fixture) => {
    for (const value of acceptedValues) {
      expect(await fetchOutcome({ ...createProjectBody(fixture), [member]: value })).toMatchObject(
        ACCEPTED,
      );
    }
    for (const value of refusedValues) {
      const outcome = await fetchOutcome({ ...createProjectBody(fixture), [member]: value });
      expect(outcome, value).toMatchObject(matchRefusal(member));
    }
  });
const createUniqueText = (length: number) => crypto.randomUUID().repeat(4).slice(0, length);

let shortNameCount = 0;

/** Returns a new project name of minimal length. */
function createShortName() {
  shortNameCount += 1;
  return `z${shortNameCount}`;
}

export const limits: Section = {
  title: 'Limits',
  rules: [
    ...pageRules,
    createOutcomeRule('A batch has 1 to 100 records.', writeBody, async (fetchOutcome) => {
      expect(await fetchOutcome(createBatch(1))).toMatchObject(ACCEPTED);
      expect(await fetchOutcome(createBatch(100))).toMatchObject(ACCEPTED);
      expect(await fetchOutcome(createBatch(0))).toMatchObject(matchRefusal('batch'));
      expect(await fetchOutcome(createBatch(101))).toMatchObject(matchRefusal('batch'));
    }),
    createLengthRule(
      'appName',
      ['a', 'a'.repeat(128)],
      ['', 'a'.repeat(129)],
      "A project's `appName` has 1 to 128 characters.",
    ),
    createOutcomeRule(
      "A project's `name` has 2 to 128 characters.",
      projectBody,
      async (fetchOutcome, fixture) => {
        const createProject = (name: string) =>
          fetchOutcome({ ...createProjectBody(fixture), name });
        expect(await createProject(createShortName())).toMatchObject(ACCEPTED);
        expect(await createProject(createUniqueText(128))).toMatchObject(ACCEPTED);
        expect(await createProject('a')).toMatchObject(matchRefusal('name'));
        expect(await createProject(createUniqueText(129))).toMatchObject(matchRefusal('name'));
      },
    ),
    createLengthRule(
      'name',
      [],
      ['-begins', 'ends-', 'under_score', 'a space', 'dot.ted', 'ümlaut'],
      "A project's `name` has letters, digits and hyphens, and begins and ends with a letter or a digit.",
    ),
  ],
};
