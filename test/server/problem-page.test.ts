import { expect, test } from 'vitest';
import { createProblem, ERROR_STATUS, type ErrorCode } from '../../src/kernel/errors.ts';
import { getSharedApp } from '../support/app.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp({ env: { PUBLIC_URL: 'https://gateway.test/at/' } });
const CREATE_TOPIC = `mutation CreateTopic($input: CreateTopicInput!) {
  createTopic(input: $input) { topic { id } }
}`;

/** Returns the path without the path of PUBLIC_URL, which a proxy removes. */
const toPath = (href: string) => new URL(href).pathname.replace(/^\/at/, '');

test.each(Object.keys(ERROR_STATUS) as ErrorCode[])('serves a page for %s', async (code) => {
  const { href, title, status } = createProblem(code, '');
  const response = await app.fetch(toPath(href));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  const text = await response.text();
  expect(text).toContain(`<h1>${title}</h1>`);
  expect(text).toContain(String(status));
});

test('lists all pages', async () => {
  const list = await (await app.fetch('/problems')).text();
  const links = [...list.matchAll(/href="([^"]+)"/g)].map(([, href]) => `/${href}`);
  expect(links).toEqual(
    Object.keys(ERROR_STATUS).map((code) => toPath(createProblem(code as ErrorCode, '').href)),
  );
  expect((await app.fetch('/problems/none')).status).toBe(404);
});

test('links problems of both surfaces to their page, and types each issue', async () => {
  const rest = await createRestTenant(app);
  const { tenant, base } = rest;
  const restProblem = await rest.expectRefusal('POST', `${base}/topics`, {
    name: '',
    colour: 'red',
  });
  const input = { projectIdOrName: tenant.projectId, name: 'x'.repeat(65) };
  const { problem } = await tenant.expectRefusal(CREATE_TOPIC, { input });
  for (const { href, type } of [restProblem, problem]) {
    expect(type).toBe('urn:problem:bad-user-input');
    expect(href).toBe('https://gateway.test/at/problems/bad-user-input');
  }
  const formatIssues = (issues: { name: string; type: string; title: string }[] = []) =>
    issues.map(({ name, type, title }) => `${name}: ${type}, ${title}`).sort();
  expect(formatIssues(restProblem.issues)).toEqual([
    'colour: urn:problem:unknown-name, Unknown Name',
    'name: urn:problem:invalid-value, Invalid Value',
  ]);
  expect(formatIssues(problem.issues)).toEqual([
    'input.name: urn:problem:invalid-value, Invalid Value',
  ]);
  const refusal = await rest.expectRefusal('POST', `${base}/topics`, {});
  expect(formatIssues(refusal.issues)).toEqual(['name: urn:problem:missing-value, Missing Value']);
});
