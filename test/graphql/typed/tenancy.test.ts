/** Calls every field of a typed API as callers who must not see any of its objects. */
import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLInputType,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  type IntrospectionQuery,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import type { Tenant } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { createStream } from '../../support/fixtures/streams.ts';
import {
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';
import { dumpProject } from '../../support/tenancy/stored-rows.ts';

const app = await startTypedApi();
app.sandbox.seed('contacts', 2);
app.zoho.store.create({ Last_Name: 'Secret', Company: 'Globex' }, new Date());
const tenant = await createStreamTenant();
const { data } = await createTypedClient(app, tenant).request(getIntrospectionQuery());
const schema = buildClientSchema(data as IntrospectionQuery);

async function createStreamTenant(): Promise<Tenant> {
  const createdTenant = await app.createTenant();
  await createStream(app.app.services.database, { projectId: createdTenant.projectId });
  await installPeople(app, createdTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  await installPeople(app, createdTenant, {
    integration: 'leads',
    provider: 'zoho',
    groupRef: 'globex',
  });
  return createdTenant;
}

interface Root {
  kind: 'query' | 'mutation' | 'subscription';
  field: GraphQLField<unknown, unknown>;
}

const ROOT_FIELDS: Root[] = (['query', 'mutation', 'subscription'] as const).flatMap((kind) =>
  Object.values(
    {
      query: schema.getQueryType(),
      mutation: schema.getMutationType(),
      subscription: schema.getSubscriptionType(),
    }[kind]?.getFields() ?? {},
  ).map((field) => ({ kind, field })),
);

/** Returns a value of a required argument. */
function createValue(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [];
  if (!isInputObjectType(nullable)) return nullable.name === 'Float' ? 1 : 'x';
  const members = Object.values(nullable.getFields()).filter(({ type: member }) =>
    isNonNullType(member),
  );
  // A write needs at least one field.
  const [firstField] = Object.values(nullable.getFields());
  return Object.fromEntries(
    [...new Set([...members, ...(firstField ? [firstField] : [])])].map((member) => [
      member.name,
      createValue(member.type),
    ]),
  );
}

/** Selects every field of a type, four levels deep. */
function selectFields(type: GraphQLField<unknown, unknown>['type'], depth = 4): string {
  const namedType = getNamedType(type);
  if (!isObjectType(namedType)) return '';
  const fields = Object.values(namedType.getFields()).filter(
    ({ type: inner }) => depth > 0 || !isObjectType(getNamedType(inner)),
  );
  const texts = fields.map(({ name, type: inner }) => `${name} ${selectFields(inner, depth - 1)}`);
  return `{ ${texts.join(' ')} }`;
}

function createOperation({ kind, field }: Root, group: string) {
  const args = field.args.filter(({ name, type }) => name === 'group' || isNonNullType(type));
  const declarations = args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = args.map(({ name }) => `${name}: $${name}`).join(', ');
  const variables = Object.fromEntries(
    args.map(({ name, type }) => [name, name === 'group' ? group : createValue(type)]),
  );
  const head = args.length > 0 ? [`(${declarations})`, `(${passed})`] : ['', ''];
  return {
    query: `${kind} Walk${head[0]} { ${field.name}${head[1]} ${selectFields(field.type)} }`,
    variables,
  };
}

async function send(root: Root, group: string, { projectId, headers }: Caller) {
  const { query, variables } = createOperation(root, group);
  if (root.kind !== 'subscription') {
    const { data: found, errors } = await createTypedClient(
      app,
      { projectId, apiKey: '' },
      headers,
    ).request(query, variables);
    return { found, errors };
  }
  const path = `/graphql/projects/${projectId}`;
  const stream = await openEventStream(app.fetch, { query, variables, headers, path });
  const message = await stream.next();
  stream.close();
  return { found: message?.data.data, errors: message?.data.errors };
}

interface Caller {
  projectId: string;
  headers: Record<string, string>;
}

const removeNames = (value: unknown) =>
  JSON.stringify(value).replaceAll(/urn:uuid:[\da-f-]{36}|prj_\w+|globex|unknown/g, '*');

test('covers the fields of each kind', () => {
  expect(ROOT_FIELDS.map(({ field }) => field.name)).toEqual([
    '_contract',
    'peopleById',
    'people',
    'createPeople',
    'updatePeople',
    'deletePeople',
    'peopleChanged',
  ]);
});

test('returns the same NOT_FOUND for a foreign and an unknown project', async () => {
  const otherTenant = await createStreamTenant();
  const dump = await dumpProject(app, tenant.projectId);
  for (const root of ROOT_FIELDS) {
    const headers = { 'x-api-key': otherTenant.apiKey };
    const foreign = await send(root, 'globex', { projectId: tenant.projectId, headers });
    const unknownProjectError = await send(root, 'globex', { projectId: newId('prj'), headers });
    expect(foreign.found ?? null).toBeNull();
    expect(foreign.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(removeNames(foreign)).toBe(removeNames(unknownProjectError));
  }
  expect(await dumpProject(app, tenant.projectId)).toBe(dump);
});

test('returns the same error to an end user for a foreign and an unknown group', async () => {
  const permissions = ['READ', 'WRITE_RECORDS'];
  const { headers } = await createEndUser(app, tenant, { permissions });
  const requests = app.zoho.requests.length;
  const dump = await dumpProject(app, tenant.projectId);
  const caller = { projectId: tenant.projectId, headers };
  for (const root of ROOT_FIELDS.filter(({ field }) => field.name !== '_contract')) {
    const foreign = await send(root, 'globex', caller);
    const unknownGroupError = await send(root, 'unknown', caller);
    expect(Object.values(foreign.found ?? {}).every((value) => value === null)).toBe(true);
    expect(foreign.errors).toMatchObject([
      { extensions: { code: root.kind === 'subscription' ? 'FORBIDDEN' : 'NOT_FOUND' } },
    ]);
    expect(removeNames(foreign)).toBe(removeNames(unknownGroupError));
  }
  expect(app.zoho.requests.length).toBe(requests);
  expect(await dumpProject(app, tenant.projectId)).toBe(dump);
});

test('serves no object to an end user without integrations', async () => {
  const { headers } = await createEndUser(app, tenant, { permissions: ['READ'], integrations: [] });
  for (const root of ROOT_FIELDS.filter(({ field }) => field.name !== '_contract')) {
    const { found, errors } = await send(root, 'acme', { projectId: tenant.projectId, headers });
    expect(found ?? null).toBeNull();
    const codes = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
    expect(new Set(codes)).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']));
  }
});
