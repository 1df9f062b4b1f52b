/** Problem documents, and the errors that cause each of them. */
import { expect } from 'vitest';
import type { Problem } from '../../src/errors.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Choice, Rule, Section } from '../support/conformance/rule.ts';

/** Two values are invalid: one in the path, one in the body. */
const fetchRestProblem = ({ getRefusal }: Fixture): Promise<Problem> =>
  getRefusal('PATCH', `/projects/${'x'.repeat(200)}/topics/${'y'.repeat(100)}`, {
    name: 'no_underscores',
  });

const fetchGraphqlProblem = async ({ tenant }: Fixture): Promise<Problem> => {
  const query = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const input = { projectIdOrName: tenant.projectName, name: 'no_underscores' };
  return (await tenant.getRefusal(query, { input })).problem;
};

function problemRule(title: string, check: (problem: Problem) => unknown): Rule {
  return {
    title,
    rest: async (fixture) => check(await fetchRestProblem(fixture)),
    graphql: async (fixture) => check(await fetchGraphqlProblem(fixture)),
  };
}

const getIssues = ({ issues = [] }: Problem) => {
  expect(issues.length).toBeGreaterThan(0);
  return issues as unknown as Record<string, unknown>[];
};

const problems: Rule[] = [
  problemRule('A problem has `type`, `about:blank` or a URN.', ({ type }) =>
    expect(type).toMatch(/^(about:blank|urn:problem:[a-z-]+)$/),
  ),
  problemRule('A problem has `href`, a link to the guide to its type.', ({ href }) =>
    expect(href).toMatch(/^https?:/),
  ),
  problemRule('A problem has `title`, a short description.', ({ title }) =>
    expect(title).toEqual(expect.any(String)),
  ),
  problemRule('A problem has `status`, the HTTP status.', ({ status }) => expect(status).toBe(400)),
  problemRule('A problem has `detail`, a description of this occurrence.', ({ detail }) =>
    expect(detail).toMatch(/\w/),
  ),
  problemRule('A problem has `instance`, an identifier of this occurrence.', ({ instance }) =>
    expect(instance).toMatch(/^urn:uuid:/),
  ),
  problemRule('A problem may have `issues`, one for each invalid input.', (problem) =>
    getIssues(problem),
  ),
  problemRule('An issue has `type` and may have `title`.', (problem) => {
    for (const { type } of getIssues(problem)) expect(type).toEqual(expect.any(String));
  }),
  problemRule('An issue has `detail`, a string.', (problem) => {
    for (const { detail } of getIssues(problem)) expect(detail).toMatch(/\w/);
  }),
  problemRule('An issue has `in`: `path` or `body`.', (problem) => {
    for (const issue of getIssues(problem)) expect(['path', 'body']).toContain(issue.in);
  }),
  problemRule('An issue has `name`, the parameter or the path of the property.', (problem) => {
    expect(getIssues(problem).map(({ name }) => name)).toContainEqual(
      expect.stringMatching(/^(input\.)?name$/),
    );
  }),
  problemRule('An issue has `value`, the invalid value.', (problem) => {
    expect(getIssues(problem).map(({ value }) => value)).toContain('no_underscores');
  }),
  problemRule('Invalid input returns 400 with the title `Bad Request`.', (problem) =>
    expect(problem).toMatchObject({ status: 400, title: 'Bad Request' }),
  ),
  {
    title: 'Every invalid path parameter and body property has an issue.',
    rest: async (fixture) => {
      const locations = getIssues(await fetchRestProblem(fixture)).map(
        (issue) => `${issue.in} ${issue.name}`,
      );
      expect(locations.sort()).toEqual(['body name', 'path projectIdOrName', 'path topicId']);
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
  provoke(fixture: Fixture): Promise<Problem>;
}

const CONDITIONS: Condition[] = [
  {
    when: 'the request has neither a key nor a token',
    status: 401,
    type: 'urn:problem:unauthenticated',
    provoke: ({ anonymous, base }) => anonymous.getRefusal('GET', `${base}/topics`),
  },
  {
    when: 'the key lacks the scope',
    status: 403,
    type: 'urn:problem:forbidden',
    provoke: async ({ withScopes, base }) =>
      (await withScopes('read')).getRefusal('POST', `${base}/topics`, { name: 'a' }),
  },
  {
    when: 'the row does not exist for the caller',
    status: 404,
    type: 'urn:problem:not-found',
    provoke: ({ getRefusal }) => getRefusal('GET', '/projects/unknown-project/topics'),
  },
  {
    when: 'the name is taken',
    status: 409,
    type: 'urn:problem:conflict',
    async provoke({ post, getRefusal, base, createUniqueName }) {
      const name = createUniqueName('taken');
      await post(`${base}/topics`, { name });
      return getRefusal('POST', `${base}/topics`, { name });
    },
  },
  {
    when: 'the provider refuses the request',
    status: 422,
    type: 'urn:problem:unprocessable',
    provoke({ getRefusal, base }) {
      const account = { groupRef: 'refused', consumerRef: 'ann', provider: 'sandbox' };
      return getRefusal('POST', `${base}/connections:generate`, { ...account, apiKey: 'wrong' });
    },
  },
];

const choices = CONDITIONS.map(
  ({ when, status, type, provoke }): Choice => ({
    open: 'Status and `type` of a problem',
    title: `${status} and \`${type}\` if ${when}.`,
    rest: async (fixture) => expect(await provoke(fixture)).toMatchObject({ status, type }),
  }),
);

export const errors: Section = { title: 'Errors', rules: problems, choices };
