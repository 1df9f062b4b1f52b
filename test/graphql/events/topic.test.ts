import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();

const CREATE_TOPIC = `mutation CreateTopic($input: CreateTopicInput!) {
  createTopic(input: $input) { topic { id name createTime updateTime project { id } } }
}`;
const UPDATE_TOPIC = `mutation UpdateTopic($input: UpdateTopicInput!) {
  updateTopic(input: $input) { topic { id name updateTime } }
}`;
const DELETE_TOPIC = `mutation DeleteTopic($input: DeleteTopicInput!) {
  deleteTopic(input: $input) { deletedId }
}`;

test('creates, renames and deletes a topic', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectName;
  const creation = await tenant.query(CREATE_TOPIC, { input: { projectIdOrName, name: 'Alerts' } });
  const { topic } = creation.createTopic;
  expect(topic).toMatchObject({
    name: 'Alerts',
    updateTime: null,
    project: { id: tenant.projectId },
  });

  const changed = { projectIdOrName, topicId: topic.id, name: 'Alarms' };
  expect((await tenant.query(UPDATE_TOPIC, { input: changed })).updateTopic.topic).toEqual({
    id: topic.id,
    name: 'Alarms',
    updateTime: expect.any(String),
  });

  const input = { projectIdOrName, topicId: topic.id };
  expect(await tenant.query(DELETE_TOPIC, { input })).toEqual({
    deleteTopic: { deletedId: topic.id },
  });
  expect(await tenant.expectRefusal(DELETE_TOPIC, { input })).toMatchObject({ code: 'NOT_FOUND' });
});

test('returns 409 for a duplicate topic name', async () => {
  const tenant = await app.createTenant();
  const input = { projectIdOrName: tenant.projectId, name: 'alerts' };
  await tenant.query(CREATE_TOPIC, { input });
  expect(await tenant.expectRefusal(CREATE_TOPIC, { input })).toMatchObject({
    code: 'CONFLICT',
    problem: { status: 409, type: 'urn:problem:conflict' },
  });
});

test('accepts spaces within a name, and refuses them at its ends', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  const { topic } = (
    await tenant.query(CREATE_TOPIC, { input: { projectIdOrName, name: 'All events' } })
  ).createTopic;
  expect(topic.name).toBe('All events');
  for (const name of [' All events', 'All events ', ' ', 'a'.repeat(65)]) {
    expect(
      await tenant.expectRefusal(CREATE_TOPIC, { input: { projectIdOrName, name } }),
    ).toMatchObject({
      problem: { issues: [{ name: 'input.name' }] },
    });
  }
});

test('reports every invalid input', async () => {
  const tenant = await app.createTenant();
  const input = { projectIdOrName: '', name: 'no_underscores' };
  const { code, problem } = await tenant.expectRefusal(CREATE_TOPIC, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    { in: 'body', name: 'input.projectIdOrName', value: '' },
    { in: 'body', name: 'input.name', value: 'no_underscores' },
  ]);
});

test("returns NOT_FOUND for another tenant's topic", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const input = { projectIdOrName: tenant.projectId, name: 'alerts' };
  const { id } = (await tenant.query(CREATE_TOPIC, { input })).createTopic.topic;
  const getNode = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  expect(await otherTenant.query(getNode, { id })).toEqual({ node: null });
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const foreign = { input: { projectIdOrName, topicId: id } };
    expect(await otherTenant.expectRefusal(DELETE_TOPIC, foreign)).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
});

test('returns FORBIDDEN for a key without the scope', async () => {
  const tenant = await app.createTenant();
  const reader = await tenant.withScopes('read');
  const input = { projectIdOrName: tenant.projectId, name: 'alerts' };
  expect(await reader.expectRefusal(CREATE_TOPIC, { input })).toMatchObject({ code: 'FORBIDDEN' });
});

test('either renames or deletes a topic if both happen at the same time', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  for (let round = 0; round < 5; round += 1) {
    const creation = { input: { projectIdOrName, name: `topic-${round}` } };
    const { id: topicId } = (await tenant.query(CREATE_TOPIC, creation)).createTopic.topic;
    const renaming = { input: { projectIdOrName, topicId, name: `renamed-${round}` } };
    const deleting = { input: { projectIdOrName, topicId } };
    const renames = Array.from({ length: 6 }, () => tenant.request(UPDATE_TOPIC, renaming));
    const deletions = Array.from({ length: 2 }, () => tenant.request(DELETE_TOPIC, deleting));
    const refusals = (await Promise.all([...renames, ...deletions])).flatMap(
      ({ errors }) => errors ?? [],
    );
    expect(new Set(refusals.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['NOT_FOUND']),
    );
    expect(refusals.filter(({ path }) => path?.[0] === 'deleteTopic')).toHaveLength(1);
  }
});
