/** Mutations of a project's typed API. */
import { expect, test } from 'vitest';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import {
  createPeopleTenant,
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';

const app = await startTypedApi();
const tenant = await createPeopleTenant(app);
const client = createTypedClient(app, tenant);

const RESULT_FIELDS =
  'success id errors omittedFields status operationId installation { integration group }';
const CREATE_PEOPLE = `mutation CreatePeople($group: ID, $input: CreatePeopleInput!, $key: String) {
  createPeople(group: $group, input: $input, idempotencyKey: $key) { ${RESULT_FIELDS} raw }
}`;
const UPDATE_PEOPLE = `mutation UpdatePeople($id: ID!, $input: UpdatePeopleInput!) {
  updatePeople(group: "acme", id: $id, input: $input) { ${RESULT_FIELDS} }
}`;
const DELETE_PEOPLE = `mutation DeletePeople($id: ID!) {
  deletePeople(group: "acme", id: $id) { ${RESULT_FIELDS} }
}`;
const GET_PEOPLE_BY_ID = `query GetPeopleById($id: ID!) {
  peopleById(group: "acme", id: $id) { lastName emailAddress score }
}`;

let count = 0;
const createPerson = () => ({
  lastName: 'Lovelace',
  emailAddress: `ada-${++count}@example.test`,
  score: 7,
});

test('creates, changes and deletes a record under the names of the manifest', async () => {
  const input = createPerson();
  const { createPeople } = await client.query(CREATE_PEOPLE, { group: 'acme', input });
  expect(createPeople).toMatchObject({
    success: true,
    id: expect.any(String),
    errors: [],
    status: 'SUCCEEDED',
    installation: { integration: 'crm', group: 'acme' },
    raw: { lastname: 'Lovelace', email: input.emailAddress },
  });
  const { id } = createPeople;
  expect((await client.query(GET_PEOPLE_BY_ID, { id })).peopleById).toEqual(input);
  await client.query(UPDATE_PEOPLE, { id, input: { lastName: 'Byron', score: null } });
  expect((await client.query(GET_PEOPLE_BY_ID, { id })).peopleById).toEqual({
    ...input,
    lastName: 'Byron',
    score: null,
  });
  expect((await client.query(DELETE_PEOPLE, { id })).deletePeople).toMatchObject({ success: true });
  expect((await client.query(GET_PEOPLE_BY_ID, { id })).peopleById).toBeNull();
});

test('writes to the provider of each group', async () => {
  const { createPeople } = await client.query(CREATE_PEOPLE, {
    group: 'globex',
    input: { lastName: 'Hopper', Company: 'Globex' },
  });
  expect(createPeople).toMatchObject({ success: true, installation: { integration: 'leads' } });
  const query = `query GetPeopleById($id: ID!) {
    peopleById(group: "globex", id: $id) { lastName Company }
  }`;
  expect(await client.query(query, { id: createPeople.id })).toEqual({
    peopleById: { lastName: 'Hopper', Company: 'Globex' },
  });
});

test('writes once for repeated calls with the same idempotency key', async () => {
  const variables = { group: 'acme', input: createPerson(), key: 'create-ada' };
  const creation = await client.query(CREATE_PEOPLE, variables);
  expect(await client.query(CREATE_PEOPLE, variables)).toEqual(creation);
  const search = `{ people(group: "acme", where: { emailAddress: "${variables.input.emailAddress}" }) { nodes { id } } }`;
  expect((await client.query(search)).people.nodes).toHaveLength(1);
});

test('returns a refusal by the provider as a result', async () => {
  const { createPeople } = await client.query(CREATE_PEOPLE, {
    group: 'acme',
    input: { lastName: 'x' },
  });
  expect(createPeople).toMatchObject({ success: false, id: null, status: 'FAILED' });
  expect(createPeople.errors).toEqual([expect.stringMatching(/email/)]);
});

test('omits a field without a mapping, and lists it', async () => {
  const input = createPerson();
  const { createPeople } = await client.query(CREATE_PEOPLE, {
    group: 'acme',
    input: { ...input, tier: 'gold' },
  });
  expect(createPeople).toMatchObject({ success: true, omittedFields: ['tier'] });
  const { peopleById } = await client.query(GET_PEOPLE_BY_ID, { id: createPeople.id });
  expect(peopleById).toEqual(input);
});

test.each([
  ['an unknown group', { group: 'none', input: createPerson() }, /Group "none" was not found/],
  ['no group', { input: createPerson() }, /`group` is required/],
  [
    'a number that JSON cannot hold',
    { group: 'acme', input: { ...createPerson(), score: 2 ** 60 } },
    /`input\.score` is beyond/,
  ],
  [
    'an empty idempotency key',
    { group: 'acme', input: createPerson(), key: '' },
    /`idempotencyKey` /,
  ],
])('refuses a write with %s', async (_what, variables, detail) => {
  const { problem } = await client.expectRefusal(CREATE_PEOPLE, variables);
  expect(problem.detail).toMatch(detail);
});

test('refuses a deletion that the config does not enable', async () => {
  const ownTenant = await app.createTenant();
  const config = { read: [{ objectName: 'contacts' }], write: [{ objectName: 'contacts' }] };
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
    config,
  });
  const refusal = await createTypedClient(app, ownTenant).expectRefusal(DELETE_PEOPLE, { id: '1' });
  expect(refusal).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringMatching(/deletion|DELETE|enabled/) },
  });
});

test('passes further fields of the provider by its names, if the contract accepts them', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
    read: { optionalFieldsAuto: 'ALL' },
    write: { valueDefaults: { allowAnyFields: true } },
    config: {
      read: [{ objectName: 'contacts', selectedFieldsAuto: 'ALL' }],
      write: [{ objectName: 'contacts' }],
    },
  });
  const typed = createTypedClient(app, ownTenant);
  const input = { ...createPerson(), _otherFields: { phone: '+31 20 1234567' } };
  const { createPeople } = await typed.query(CREATE_PEOPLE, { group: 'acme', input });
  const query = 'query GetPeopleById($id: ID!) { peopleById(group: "acme", id: $id) { _extras } }';
  const { peopleById } = await typed.query(query, { id: createPeople.id });
  expect(peopleById._extras).toMatchObject({ phone: '+31 20 1234567' });
  const clashingInput = { ...createPerson(), _otherFields: { lastName: 'Byron' } };
  const { problem } = await typed.expectRefusal(CREATE_PEOPLE, {
    group: 'acme',
    input: clashingInput,
  });
  expect(problem.detail).toMatch(/`input\._otherFields\.lastName` names a field that is also set/);
});

test('requires the scope or the permission for writes', async () => {
  const headers = { 'x-api-key': await tenant.createKey('records:read') };
  const variables = { group: 'acme', input: createPerson() };
  expect(
    await createTypedClient(app, tenant, headers).expectRefusal(CREATE_PEOPLE, variables),
  ).toMatchObject({ code: 'FORBIDDEN' });
  const reader = await createEndUser(app, tenant, { permissions: ['READ'] });
  expect(
    await createTypedClient(app, tenant, reader.headers).expectRefusal(CREATE_PEOPLE, variables),
  ).toMatchObject({ code: 'FORBIDDEN' });
  const writer = await createEndUser(app, tenant, { permissions: ['WRITE_RECORDS'] });
  const typed = createTypedClient(app, tenant, writer.headers);
  expect((await typed.query(CREATE_PEOPLE, { input: createPerson() })).createPeople).toMatchObject({
    success: true,
  });
  const { problem } = await typed.expectRefusal(CREATE_PEOPLE, {
    group: 'globex',
    input: { lastName: 'x' },
  });
  expect(problem.detail).toBe('Group "globex" was not found.');
});
