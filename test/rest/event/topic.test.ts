import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { restTenant } from '../../support/rest/rest-client.ts';

const app = await sharedApp();

test('a topic is made, renamed, listed and deleted', async () => {
  const rest = await restTenant(app);
  const made = await rest.post(`${rest.base}/topics`, { name: 'Alerts' });
  expect(made).toEqual({
    id: expect.stringMatching(/^top_/),
    name: 'Alerts',
    projectId: rest.tenant.projectId,
    createTime: expect.any(String),
  });
  const renamed = await rest.patch(`${rest.base}/topics/${made.id}`, { name: 'Alarms' });
  expect(renamed).toEqual({ ...made, name: 'Alarms', updateTime: expect.any(String) });
  expect(await rest.get(`/projects/${rest.tenant.projectId}/topics`)).toEqual([renamed]);
  await rest.delete(`${rest.base}/topics/${made.id}`);
  expect(await rest.refusal('DELETE', `${rest.base}/topics/${made.id}`)).toMatchObject({
    status: 404,
    type: 'urn:problem:not-found',
  });
});

test('a second topic of the same name is a conflict', async () => {
  const rest = await restTenant(app);
  await rest.post(`${rest.base}/topics`, { name: 'alerts' });
  expect(await rest.refusal('POST', `${rest.base}/topics`, { name: 'alerts' })).toMatchObject({
    status: 409,
    title: 'Conflict',
  });
});

test('every offending input is named at once, each with its place', async () => {
  const rest = await restTenant(app);
  const path = `/projects/${'x'.repeat(200)}/topics/${'y'.repeat(100)}`;
  const { issues } = await rest.refusal('PATCH', path, { name: 'no_underscores', nmae: 1 });
  expect(issues?.map((issue) => [issue.in, issue.name]).sort()).toEqual([
    ['body', 'name'],
    ['body', 'nmae'],
    ['path', 'projectIdOrName'],
    ['path', 'topicId'],
  ]);
  expect(issues?.find(({ name }) => name === 'name')?.value).toBe('no_underscores');
});

test('a list is given in pages to those who ask for pages', async () => {
  const rest = await restTenant(app);
  for (const name of ['one', 'two', 'three']) await rest.post(`${rest.base}/topics`, { name });
  const names: string[][] = [];
  let next: string | undefined = `${rest.base}/topics?pageSize=2`;
  while (next) {
    const { body, headers } = await rest.ask('GET', next);
    names.push(body.map((topic: { name: string }) => topic.name));
    next = /^<\/v1([^>]+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  }
  expect(names).toEqual([['three', 'two'], ['one']]);
});

test('page arguments that are no good are named as the caller knows them', async () => {
  const rest = await restTenant(app);
  const asked = `${rest.base}/topics?pageSize=1001&pageToken=x&page=2`;
  const sizes = await rest.refusal('GET', asked);
  expect(sizes.issues?.map((issue) => [issue.in, issue.name])).toEqual([
    ['query', 'page'],
    ['query', 'pageSize'],
  ]);
  const token = await rest.refusal('GET', `${rest.base}/topics?pageToken=x`);
  expect(token.issues).toMatchObject([
    { in: 'query', name: 'pageToken', value: 'x', detail: 'is not a cursor of this list.' },
  ]);
});

test("another tenant's topic does not exist", async () => {
  const [a, b] = [await restTenant(app), await restTenant(app)];
  const { id } = await a.post(`${a.base}/topics`, { name: 'alerts' });
  for (const base of [a.base, b.base]) {
    expect(await b.refusal('DELETE', `${base}/topics/${id}`)).toMatchObject({ status: 404 });
    expect(await b.refusal('PATCH', `${base}/topics/${id}`, { name: 'x' })).toMatchObject({
      status: 404,
    });
  }
  expect(await b.refusal('GET', `${a.base}/topics`)).toMatchObject({ status: 404 });
});

test('a key without the scope is refused', async () => {
  const rest = await restTenant(app);
  const reader = await rest.withScopes('read');
  await reader.get(`${rest.base}/topics`);
  const problem = await reader.refusal('POST', `${rest.base}/topics`, { name: 'alerts' });
  expect(problem).toMatchObject({ status: 403, title: 'Forbidden' });
  expect(problem.detail).toContain('events:write');
});
