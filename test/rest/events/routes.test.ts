import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();

async function createTopicAndDestination(rest: RestTenant) {
  const metadata = { url: 'https://example.com/hook' };
  const topic = await rest.post(`${rest.base}/topics`, { name: 'alerts' });
  const destination = await rest.post(`${rest.base}/destinations`, {
    name: 'hooks',
    type: 'webhook',
    metadata,
  });
  return { topicId: topic.id, destinationId: destination.id };
}

test('routes a topic to a destination, lists routes by either, and deletes them', async () => {
  const rest = await createRestTenant(app);
  const ids = await createTopicAndDestination(rest);
  const path = `${rest.base}/topic-destination-routes`;
  const route = await rest.post(path, ids);
  expect(route).toEqual({
    id: expect.stringMatching(/^tdr_/),
    projectId: rest.tenant.projectId,
    createTime: expect.any(String),
    ...ids,
  });
  expect(await rest.get(`${path}?topicId=${ids.topicId}`)).toEqual([route]);
  expect(await rest.get(`${path}?destinationId=dst_other`)).toEqual([]);
  expect(await rest.expectRefusal('POST', path, ids)).toMatchObject({ status: 409 });
  await rest.delete(`${path}/${route.id}`);
  expect(await rest.expectRefusal('DELETE', `${path}/${route.id}`)).toMatchObject({ status: 404 });
});

test('reports an unknown topic and an unknown destination as issues', async () => {
  const rest = await createRestTenant(app);
  const ids = await createTopicAndDestination(await createRestTenant(app));
  const { issues } = await rest.expectRefusal('POST', `${rest.base}/topic-destination-routes`, ids);
  expect(issues).toMatchObject([
    { in: 'body', name: 'topicId', detail: 'does not exist.', value: ids.topicId },
    { in: 'body', name: 'destinationId', detail: 'does not exist.', value: ids.destinationId },
  ]);
});

test('routes events to a topic by the names of the reference API', async () => {
  const rest = await createRestTenant(app);
  const { topicId } = await createTopicAndDestination(rest);
  const path = `${rest.base}/notification-event-topic-routes`;
  const route = await rest.post(path, { eventType: 'read.backfill.done', topicId });
  expect(route).toMatchObject({ eventType: 'read.backfill.done', topicId });
  expect(await rest.get(`${path}?eventType=read.backfill.done`)).toEqual([route]);
  expect(await rest.get(`${path}?eventType=connection.created`)).toEqual([]);
  const { issues } = await rest.expectRefusal('POST', path, {
    eventType: 'CONNECTION_CREATED',
    topicId,
  });
  expect(issues).toMatchObject([{ in: 'body', name: 'eventType', value: 'CONNECTION_CREATED' }]);
  expect(issues?.[0]?.detail).toContain('connection.created');
  await rest.delete(`${path}/${route.id}`);
  expect(await rest.get(path)).toEqual([]);
});

test('requires events:write for routes', async () => {
  const rest = await createRestTenant(app);
  const ids = await createTopicAndDestination(rest);
  const reader = await rest.withScopes('read');
  for (const [path, body] of [
    ['topic-destination-routes', ids],
    ['notification-event-topic-routes', { eventType: 'connection.created', topicId: ids.topicId }],
  ] as const) {
    const refusal = await reader.expectRefusal('POST', `${rest.base}/${path}`, body);
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('events:write');
  }
});
