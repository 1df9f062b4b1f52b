/** Rules for problem documents and the errors that cause them. */
import { expect } from 'vitest';
import type { Problem } from '../../src/kernel/errors.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Choice, Rule, Section } from '../support/conformance/rule.ts';

/** Sends a request with an invalid value in the path and another one in the body. */
const fetchRestProblem = ({ expectRefusal }: Fixture): Promise<Problem> =>
  expectRefusal('PATCH', `/projects/${'x'.repeat(200)}/topics/${'y'.repeat(100)}`, {
    name: 'no_underscores',
  });

const fetchGraphqlProblem = async ({ tenant }: Fixture): Promise<Problem> => {
  const query = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const input = { projectIdOrName: tenant.projectName, name: 'no_underscores' };
  return (await tenant.expectRefusal(query, { input })).problem;
};

function createProblemRule(title: string, check: (problem: Problem) => unknown): Rule {
  return {
    title,
    rest: async (fixture) => check(await fetchRestProblem(fixture)),
    graphql: async (fixture) => check(await fetchGraphqlProblem(fixture)),
  };
}

const expectIssues = ({ issues = [] }: Problem) => {
  expect(issues.length).toBeGreaterThan(0);
  return issues as unknown as Record<string, unknown>[];
};

const problemRules: Rule[] = [
  createProblemRule('A problem has `type`, `about:blank` or a URN.', ({ type }) =>
    expect(type).toMatch(/^(about:blank|urn:problem:[a-z-]+)$/),
  ),
  createProblemRule('A problem has `href`, a link to the guide to its type.', ({ href }) =>
    expect(href).toMatch(/^https?:/),
  ),
  createProblemRule('A problem has `title`, a short description.', ({ title }) =>
    expect(title).toEqual(expect.any(String)),
  ),
  createProblemRule('A problem has `status`, the HTTP status.', ({ status }) =>
    expect(status).toBe(400),
  ),
  createProblemRule('A problem has `detail`, a description of this occurrence.', ({ detail }) =>
    expect(detail).toMatch(/\w/),
  ),
  createProblemRule('A problem has `instance`, an identifier of this occurrence.', ({ instance }) =>
    expect(instance).toMatch(/^urn:uuid:/),
  ),
  createProblemRule('A problem may have `issues`, one for each invalid input.', (problem) =>
    expectIssues(problem),
  ),
  createProblemRule('An issue has `type` and may have `title`.', (problem) => {
    for (const { type } of expectIssues(problem)) expect(type).toEqual(expect.any(String));
  }),
  createProblemRule('An issue has `detail`, a string.', (problem) => {
    for (const { detail } of expectIssues(problem)) expect(detail).toMatch(/\w/);
  }),
  createProblemRule('An issue has `in`: `path` or `body`.', (problem) => {
    for (const issue of expectIssues(problem)) expect(['path', 'body']).toContain(issue.in);
  }),
  createProblemRule(
    'An issue has `name`, the parameter or the path of the property.',
    (problem) => {
      expect(expectIssues(problem).map(({ name }) => name)).toContainEqual(
        expect.stringMatching(/^(input\.)?name$/),
      );
    },
  ),
  createProblemRule('An issue has `value`, the invalid value.', (problem) => {
    expect(expectIssues(problem).map(({ value }) => value)).toContain('no_underscores');
  }),
  createProblemRule('Invalid input returns 400 with the title `Bad Request`.', (problem) =>
    expect(problem).toMatchObject({ status: 400, title: 'Bad Request' }),
  ),
  {
    title: 'Every invalid path parameter and body property has an issue.',
    rest: async (fixture) => {
      const positions = expectIssues(await fetchRestProblem(fixture)).map(
        (issue) => `${issue.in} ${issue.name}`,
      );
      expect(positions.sort()).toEqual(['body name', 'path projectIdOrName', 'path topicId']);
    },
  },
  {
    title: 'Problems of REST are `application/problem+json`.',
    rest: async ({ request, base }) => {
      const { headers } = await request('POST', `${base}/topics`, {});
      expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    },
  },
];

interface Condition {
  when: string;
  status: number;
  type: string;
  fetchProblem(fixture: Fixture): Promise<Problem>;
}

const PROBLEMS: Condition[] = [
  {
    when: 'the request has neither a key nor a token',
    status: 401,
    type: 'urn:problem:unauthenticated',
    fetchProblem: ({ anonymous, base }) => anonymous.expectRefusal('GET', `${base}/topics`),
  },
  {
    when: 'the key lacks the scope',
    status: 403,
    type: 'urn:problem:forbidden',
    fetchProblem: async ({ withScopes, base }) =>
      (await withScopes('read')).expectRefusal('POST', `${base}/topics`, { name: 'a' }),
  },
  {
    when: 'the row does not exist for the caller',
    status: 404,
    type: 'urn:problem:not-found',
    fetchProblem: ({ expectRefusal }) => expectRefusal('GET', '/projects/unknown-project/topics'),
  },
  {
    when: 'the name is taken',
    status: 409,
    type: 'urn:problem:conflict',
    async fetchProblem({ post, expectRefusal, base, createUniqueName }) {
      const name = createUniqueName('taken');
      await post(`${base}/topics`, { name });
      return expectRefusal('POST', `${base}/topics`, { name });
    },
  },
  {
    when: 'the provider refuses the request',
    status: 422,
    type: 'urn:problem:unprocessable',
    fetchProblem({ expectRefusal, base }) {
      const account = { groupRef: 'refused', consumerRef: 'ann', provider: 'sandbox' };
      return expectRefusal('POST', `${base}/connections:generate`, { ...account, apiKey: 'wrong' });
    },
  },
];

const choices = PROBLEMS.map(
  ({ when, status, type, fetchProblem }): Choice => ({
    open: 'Status and `type` of a problem',
    title: `${status} and \`${type}\` if ${when}.`,
    rest: async (fixture) => expect(await fetchProblem(fixture)).toMatchObject({ status, type }),
  }),
);

export const errors: Section = { title: 'Errors', rules: problemRules, choices };
