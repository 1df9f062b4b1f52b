/** Lists are counted before their items are read. */
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { cutLongLists } from '../../../src/graphql/execution/long-lists.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getSharedApp } from '../../support/app.ts';
import { createIntegrationContent } from '../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const app = await getSharedApp();

const UPSERT = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) {
  upsertIntegrations(input: $input) { integrations { id } }
}`;

function createInput(projectIdOrName: string, objectCount: number) {
  const objects = Array.from({ length: objectCount }, (_, index) => ({
    objectName: `object${index}`,
    destination: 'records',
  }));
  const content = createIntegrationContent('crm', { read: { objects } });
  return { projectIdOrName, specVersion: '1.0.0', integrations: [content] };
}

function cutVariables(variables: Record<string, unknown>): void {
  const [definition] = parse(UPSERT).definitions;
  const { variableDefinitions = [] } = definition as { variableDefinitions?: readonly never[] };
  cutLongLists(schema, variableDefinitions, variables);
}

test('keeps one item more than a list may have, and all items of other lists', () => {
  const [long, valid] = [5_000, 200].map((count) => createInput('project', count));
  cutVariables({ input: long });
  cutVariables({ input: valid });
  const counts = [long, valid].map((input) => input?.integrations[0]?.read?.objects.length);
  expect(counts).toEqual([201, 200]);
});

test('ignores values that do not have the type of their variable', () => {
  for (const input of [null, 'text', [[]], { integrations: 'text' }, { unknown: [] }]) {
    expect(() => cutVariables({ input })).not.toThrow();
  }
});

test('refuses a list that is too long, with its path and its limit', async () => {
  const tenant = await app.createTenant();
  const input = createInput(tenant.projectId, 5_000);
  const { code, problem } = await tenant.expectRefusal(UPSERT, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual(['input.integrations[0].read.objects']);
  expect(problem.detail).toContain('must have at most 200 items');
});
