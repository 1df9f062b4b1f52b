import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates, renames, lists and deletes a topic', async () => {
  const rest = await createRestTenant(app);
  const createdTopic = await rest.post(`${rest.base}/topics`, { name: 'Alerts' });
  expect(createdTopic).toEqual({
    id: expect.stringMatching(/^top_/),
    name: 'Alerts',
    projectId: rest.tenant.projectId,
    createTime: expect.any(String),
  });
  const renamedTopic = await rest.patch(`${rest.base}/topics/${createdTopic.id}`, {
    name: 'Alarms',
  });
  expect(renamedTopic).toEqual({ ...createdTopic, name: 'Alarms', updateTime: expect.any(String) });
  expect(await rest.get(`/projects/${rest.tenant.projectId}/topics`)).toEqual([renamedTopic]);
  await rest.delete(`${rest.base}/topics/${createdTopic.id}`);
  expect(
    await rest.expectRefusal('DELETE', `${rest.base}/topics/${createdTopic.id}`),
  ).toMatchObject({
    status: 404,
    type: 'urn:problem:not-found',
  });
});

test('returns 409 for a duplicate topic name', async () => {
  const rest = await createRestTenant(app);
  await rest.post(`${rest.base}/topics`, { name: 'alerts' });
  expect(await rest.expectRefusal('POST', `${rest.base}/topics`, { name: 'alerts' })).toMatchObject(
    {
      status: 409,
      title: 'Conflict',
    },
  );
});

test('reports every invalid input at its position', async () => {
  const rest = await createRestTenant(app);
  const path = `/projects/${'x'.repeat(200)}/topics/${'y'.repeat(100)}`;
  const { issues } = await rest.expectRefusal('PATCH', path, { name: 'no_underscores', nmae: 1 });
  expect(issues?.map((issue) => [issue.in, issue.name]).sort()).toEqual([
    ['body', 'name'],
    ['body', 'nmae'],
    ['path', 'projectIdOrName'],
    ['path', 'topicId'],
  ]);
  expect(issues?.find(({ name }) => name === 'name')?.value).toBe('no_underscores');
});

test('pages a list if pageSize is set', async () => {
  const rest = await createRestTenant(app);
  for (const name of ['one', 'two', 'three']) await rest.post(`${rest.base}/topics`, { name });
  const names: string[][] = [];
  let nextUrl: string | undefined = `${rest.base}/topics?pageSize=2`;
  while (nextUrl) {
    const { body, headers } = await rest.request('GET', nextUrl);
    names.push(body.map((topic: { name: string }) => topic.name));
    nextUrl = /^<\/v1([^>]+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  }
  expect(names).toEqual([['three', 'two'], ['one']]);
});

test('reports invalid page arguments by their REST names', async () => {
  const rest = await createRestTenant(app);
  const path = `${rest.base}/topics?pageSize=1001&pageToken=x&page=2`;
  const pageRefusal = await rest.expectRefusal('GET', path);
  expect(pageRefusal.issues?.map((issue) => [issue.in, issue.name])).toEqual([
    ['query', 'page'],
    ['query', 'pageSize'],
  ]);
  const tokenRefusal = await rest.expectRefusal('GET', `${rest.base}/topics?pageToken=x`);
  expect(tokenRefusal.issues).toMatchObject([
    { in: 'query', name: 'pageToken', value: 'x', detail: 'is not a cursor of this list.' },
  ]);
});

test("returns 404 for another tenant's topic", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await rest.post(`${rest.base}/topics`, { name: 'alerts' });
  for (const base of [rest.base, otherTenant.base]) {
    expect(await otherTenant.expectRefusal('DELETE', `${base}/topics/${id}`)).toMatchObject({
      status: 404,
    });
    expect(
      await otherTenant.expectRefusal('PATCH', `${base}/topics/${id}`, { name: 'x' }),
    ).toMatchObject({ status: 404 });
  }
  expect(await otherTenant.expectRefusal('GET', `${rest.base}/topics`)).toMatchObject({
    status: 404,
  });
});

test('returns 403 for a key without the scope', async () => {
  const rest = await createRestTenant(app);
  const reader = await rest.withScopes('read');
  await reader.get(`${rest.base}/topics`);
  const problem = await reader.expectRefusal('POST', `${rest.base}/topics`, { name: 'alerts' });
  expect(problem).toMatchObject({ status: 403, title: 'Forbidden' });
  expect(problem.detail).toContain('events:write');
});
