/** Rules about endpoints: each exists, and responds with its status and its resource. */
import { expect } from 'vitest';
import type { Json } from './body.ts';
import type { Fixture } from './fixture.ts';
import { sendByGraphql } from './graphql-body.ts';
import type { Rule } from './rule.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type PathParameters = Record<string, string>;

export interface EndpointRow {
  request: `${Method} /${string}`;
  status: number;
  /**
   * The component of the response in the OpenAPI document, in brackets for a list. Null if the response has
   * no body.
   */
  response: string | [string] | null;
  usesBuilder?: boolean;
  /** The query string. */
  parameters?: string;
  pathParameters?(fixture: Fixture): PathParameters | Promise<PathParameters>;
  body?(fixture: Fixture): Json | Promise<Json>;
  /** The equivalent mutation. Its input has the path parameters and the members of the body. */
  mutation?: string;
  /** Further members of the mutation's input. Default: the project. */
  extraInput?(fixture: Fixture): Json;
  /** Runs the equivalent GraphQL query. Its result must not be null. */
  query?(fixture: Fixture): Promise<unknown>;
}

export function createEndpointRules(rows: readonly EndpointRow[]): Rule[] {
  return rows.map((row) => ({
    title: `\`${row.request}\` returns ${row.status}${describeResponse(row)}.`,
    rest: (fixture) => checkEndpoint(fixture, row),
    graphql: (fixture) => checkGraphql(fixture, row),
  }));
}

async function checkGraphql(fixture: Fixture, row: EndpointRow) {
  const { mutation, query } = row;
  if (query) return expect(await query(fixture)).toBeTruthy();
  const inputMembers = { ...(await row.pathParameters?.(fixture)), ...(await row.body?.(fixture)) };
  const outcome = await sendByGraphql(
    fixture,
    { ...row, mutation: mutation as string },
    inputMembers,
  );
  expect(outcome).toMatchObject({ refusal: null });
}

function describeResponse({ response }: EndpointRow): string {
  if (response === null) return ' without a body';
  return Array.isArray(response) ? ` with an array of ${response[0]}` : ` with ${response}`;
}

async function checkEndpoint(fixture: Fixture, row: EndpointRow) {
  const [method, template] = row.request.split(' ') as [Method, string];
  const { responses } = findOperation(fixture, method, template);
  const { schema } = responses[row.status]?.content?.['application/json'] ?? {};
  expect(schema ? getSchemaName(schema) : null, 'the response in the document').toEqual(
    row.response,
  );
  const { tenant, installation } = fixture;
  const parameters: PathParameters = {
    projectIdOrName: tenant.projectName,
    orgId: tenant.orgId,
    integrationId: installation.integrationId,
    installationId: installation.id,
    ...(await row.pathParameters?.(fixture)),
  };
  const path = template.replace(/\{(\w+)\}/g, (_all, name: string) => parameters[name] ?? '');
  const client = row.usesBuilder ? fixture.builder : fixture;
  const url = row.parameters ? `${path}?${row.parameters}` : path;
  const response = await client.request(method, url, await row.body?.(fixture));
  expect(response).toMatchObject({ status: row.status });
  if (row.response === null) expect(response.body).toBe('');
  else expect(Array.isArray(response.body)).toBe(Array.isArray(row.response));
}

interface Documented {
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}
interface Schema {
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}

/**
 * Finds an operation in the OpenAPI document. Ignores the names of path parameters, which have no meaning to
 * a client.
 */
function findOperation({ app }: Fixture, method: string, template: string): Documented {
  const { paths } = app.app.rest.swagger() as { paths: Record<string, object> };
  const toShape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const templates = Object.keys(paths).filter((path) => toShape(path) === toShape(template));
  const operations = templates.map(
    (path) => (paths[path] as Record<string, Documented>)[method.toLowerCase()],
  );
  const operation = operations.find((candidate) => candidate);
  if (!operation) throw new Error(`The document has no ${method} ${template}.`);
  return operation;
}

function getSchemaName({ $ref, items, properties }: Schema): EndpointRow['response'] {
  if (items) return [getSchemaName(items) as string];
  if (properties?.results) return 'results and pagination';
  return $ref?.split('/').at(-1) ?? 'an object';
}
