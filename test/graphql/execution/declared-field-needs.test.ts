/**
 * Reads each field of each type with a key of each single scope, with the object as the root. A field is
 * refused by its own declaration, and not by the path that leads to its object.
 *
 * @module-tag all/walk
 */
import { execute, type GraphQLObjectType, GraphQLSchema, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { authenticate } from '../../../src/domain/access/viewer/find-viewer.ts';
import { describeNeed, type Need, scopesMeet } from '../../../src/domain/access/viewer/needs.ts';
import { ALL_SCOPES, type Scope } from '../../../src/domain/access/viewer/scopes.ts';
import type { Viewer } from '../../../src/domain/access/viewer/viewer.ts';
import { EVENTS } from '../../../src/events/event-types.ts';
import { createContext } from '../../../src/graphql/execution/context.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getEventTypeName } from '../../../src/graphql/schema/schema-builder.ts';
import { DomainError } from '../../../src/kernel/errors.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { createFullTenant } from '../../support/fuzz/full-tenant.ts';
import { createDocument, createProvider } from '../../support/inputs/custom-providers.ts';
import { buildMinimalOperation, type Field } from '../../support/minimal-operation.ts';

const app = await getSharedApp();
const { services, verifier } = app.app;
const { prisma } = services.database;
const { find } = services.database.reads;
const tenant = await createFullTenant(app);
const { projectId, orgId } = tenant;
await createProvider(tenant, createDocument('https://api.acme.example'));
await prisma.topic.create({ data: { id: newId('top'), projectId, name: 'events' } });

const IN_PROJECT = [
  'ApiKey',
  'CustomProvider',
  'Group',
  'Consumer',
  'Connection',
  'Integration',
  'Revision',
  'Installation',
  'InstallationConfig',
  'Operation',
  'OperationLog',
  'Topic',
  'Destination',
  'NotificationEvent',
  'Delivery',
] as const;

/** An object of each type of the tenant. */
const objects = new Map<string, object | undefined>([
  ['Org', (await find('Org', { id: orgId }))[0]],
  ['BillingAccount', (await find('BillingAccount', { orgId }))[0]],
  ['Project', (await find('Project', { id: projectId }))[0]],
  ['DeliveryAttempt', { attemptNumber: 1, responseBody: 'no such hook' }],
  ['StreamMessage', { id: newId('msg'), projectId, body: '{}', createTime: new Date() }],
]);
for (const table of IN_PROJECT) {
  const type = table === 'Connection' ? 'ConnectedAccount' : table;
  objects.set(type, (await find<typeof table>(table, { projectId }))[0]);
}

for (const eventType of Object.keys(EVENTS)) {
  const event = objects.get('NotificationEvent');
  objects.set(getEventTypeName(eventType), event && { ...event, eventType });
}
objects.delete('NotificationEvent');

const findNeed = ({ extensions }: Field) => extensions.needs as Need | undefined;
const listFields = (type: GraphQLObjectType) => Object.values<Field>(type.getFields());
const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
const types = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter((type) => !roots.includes(type))
  .filter((type) => objects.has(type.name) || listFields(type).some(findNeed))
  .map((type) => ({ type, alone: new GraphQLSchema({ query: type }) }));

interface Reading {
  typeSchema: GraphQLSchema;
  viewer: Viewer;
  object: unknown;
}

/** Returns the error codes of the field. */
async function read(
  field: Field,
  { typeSchema: alone, viewer, object }: Reading,
): Promise<string[]> {
  const { query, variables } = buildMinimalOperation('query', field);
  const { errors = [] } = await execute({
    schema: alone,
    document: parse(query),
    variableValues: variables,
    rootValue: object,
    contextValue: createContext(services, { viewer }),
  });
  return errors.map(({ originalError }) =>
    originalError instanceof DomainError ? originalError.code : String(originalError),
  );
}

test.each([
  ...ALL_SCOPES,
  null,
])('lets a key of the scope %s read exactly the fields that declare it', async (scope) => {
  const scopes: Scope[] = scope ? [scope] : [];
  const isMet = (need: Need) => scopesMeet(scopes, need);
  const apiKey = await tenant.createKey(...scopes);
  const viewer = (await authenticate(services, verifier, { apiKey })) as Viewer;
  for (const { type, alone } of types) {
    const object = type.name === 'Viewer' ? viewer : objects.get(type.name);
    expect([type.name, object]).toEqual([type.name, expect.any(Object)]);
    for (const field of listFields(type)) {
      const codes = await read(field, { typeSchema: alone, viewer, object });
      const fieldName = `${type.name}.${field.name}`;
      const expected = isMet(findNeed(field) ?? 'nothing')
        ? expect.not.arrayContaining(['FORBIDDEN'])
        : ['FORBIDDEN'];
      expect([fieldName, codes]).toEqual([fieldName, expected]);
    }
  }
});

test('describes the needs of fields', () => {
  for (const field of types.flatMap(({ type }) => listFields(type))) {
    const need = findNeed(field);
    const expected = need
      ? expect.stringContaining(describeNeed(need))
      : expect.not.stringContaining('Needs');
    expect([field.name, field.description]).toEqual([field.name, expected]);
  }
});
