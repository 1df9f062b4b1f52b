import { expect, test } from 'vitest';
import { sharedApp } from '../support/app.ts';

const app = await sharedApp();

test('what the schema does not have is refused with a problem document each', async () => {
  const tenant = await app.tenant();
  const { status, data, errors } = await tenant.request('{ nothing viewer { nobody } }');
  expect(status).toBe(400);
  expect(data).toBeUndefined();
  expect(errors).toHaveLength(2);
  for (const error of errors ?? []) {
    expect(error.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      problem: {
        type: 'urn:problem:graphql-validation-failed',
        status: 400,
        detail: error.message,
      },
    });
  }
});

test('a refused value is not repeated, and its place is told', async () => {
  const tenant = await app.tenant();
  const inline = await tenant.refusal('{ node(id: ["planted"]) { id } }');
  expect(inline.problem.detail).toBe('ID cannot represent a non-string and non-integer value.');
  const query = 'query ($id: ID!) { node(id: $id) { id } }';
  const { code, problem } = await tenant.refusal(query, { id: { a: '; planted' } });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toEqual([
    { in: 'body', name: 'id', detail: 'ID cannot represent value.' },
  ]);
});

test('JSON too deep to be walked is refused', async () => {
  const tenant = await app.tenant();
  const query = `mutation ($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`;
  const providerMetadata = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
  const who = { projectIdOrName: tenant.projectId, groupRef: 'g', consumerRef: 'c' };
  const input = { ...who, provider: 'sandbox', apiKey: 'k', providerMetadata };
  const { code, problem } = await tenant.refusal(query, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues?.map(({ name }) => name)).toEqual(['input.providerMetadata']);
});
