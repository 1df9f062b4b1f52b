/**
 * Calls every root field with a key of each single scope, and compares the result with the field's
 * declaration.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { describeNeed, type Need, scopesMeet } from '../../../src/domain/access/viewer/needs.ts';
import { ALL_SCOPES, type Scope } from '../../../src/domain/access/viewer/scopes.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import type { GraphqlError } from '../../support/graphql-client.ts';
import { buildMinimalOperation, type Field } from '../../support/minimal-operation.ts';

const app = await getSharedApp({ env: HIGH_RATE_LIMITS });
const tenant = await app.createTenant();

/** These fields need nothing, or what the type of the id needs. */
const UNDECLARED_FIELDS = ['viewer', 'node', 'nodes'];

const listFields = (type: ReturnType<typeof schema.getQueryType>) =>
  Object.values(type?.getFields() ?? {}).filter(({ name }) => !UNDECLARED_FIELDS.includes(name));
const calls: ['query' | 'mutation', Field][] = [
  ...listFields(schema.getQueryType()).map((field) => ['query', field] as ['query', Field]),
  ...listFields(schema.getMutationType()).map(
    (field) => ['mutation', field] as ['mutation', Field],
  ),
];

const subscriptions = listFields(schema.getSubscriptionType());

/**
 * Returns the codes of the field's errors. The arguments name nothing that exists, so a subscription ends
 * with its first response.
 */
type Send = (kind: string, field: Field) => Promise<string[]>;

async function expectDeclaredNeeds(
  scopes: Scope[],
  fields: readonly [string, Field][],
  send: Send,
) {
  for (const [kind, field] of fields) {
    const needs = field.extensions.needs as Need | undefined;
    expect([field.name, needs]).toEqual([field.name, expect.anything()]);
    const codes = await send(kind, field);
    const isAllowed = scopesMeet(scopes, needs as Need);
    expect([field.name, codes, codes.includes('FORBIDDEN')]).toEqual([
      field.name,
      codes,
      !isAllowed,
    ]);
  }
}

test.each([
  ...ALL_SCOPES,
  null,
])('lets a key of the scope %s call exactly the fields that declare it', async (scope) => {
  const scopes: Scope[] = scope ? [scope] : [];
  const key = await tenant.withScopes(...scopes);
  await expectDeclaredNeeds(scopes, calls, async (kind, field) => {
    const { query, variables } = buildMinimalOperation(kind, field);
    const { errors = [] } = await key.request(query, variables);
    return errors.map(({ extensions }) => extensions.code);
  });
});

test.each([
  ...ALL_SCOPES,
  null,
])('lets a key of the scope %s follow exactly the subscriptions that declare it', async (scope) => {
  const scopes: Scope[] = scope ? [scope] : [];
  const headers = { 'x-api-key': await tenant.createKey(...scopes) };
  const subscriptionCalls = subscriptions.map((field): [string, Field] => ['subscription', field]);
  await expectDeclaredNeeds(scopes, subscriptionCalls, async (kind, field) => {
    const stream = await openEventStream(app.fetch, {
      ...buildMinimalOperation(kind, field),
      headers,
    });
    const message = await stream.next();
    stream.close();
    const errors: GraphqlError[] = message?.data.errors ?? [];
    return errors.map(({ extensions }) => extensions.code);
  });
});

test('describes the needs of root fields', () => {
  for (const { name, description, extensions } of [
    ...calls.map(([, field]) => field),
    ...subscriptions,
  ]) {
    expect([name, description]).toEqual([
      name,
      expect.stringContaining(describeNeed(extensions.needs as Need)),
    ]);
  }
});
