/** Rules about endpoints: each is there, and answers with its status and its resource. */
import { expect } from 'vitest';
import type { Json } from './body.ts';
import { sendByGraphql } from './graphql-body.ts';
import type { Rule } from './rule.ts';
import type { Scene } from './scene.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type Places = Record<string, string>;

export interface EndpointRow {
  request: `${Method} /${string}`;
  status: number;
  /** The component of the document, a list of which the answer is if it is in brackets; null has no body. */
  answer: string | [string] | null;
  isBuilders?: boolean;
  /** Of the query. */
  parameters?: string;
  places?(scene: Scene): Places | Promise<Places>;
  body?(scene: Scene): Json | Promise<Json>;
  /** The same over GraphQL, which takes the places and the body as its input. */
  mutation?: string;
  /** What the mutation takes beside these. Default: the project. */
  beside?(scene: Scene): Json;
  /** A query that gives the same; it is not null. */
  query?(scene: Scene): Promise<unknown>;
}

export function endpointRules(rows: readonly EndpointRow[]): Rule[] {
  return rows.map((row) => ({
    says: `\`${row.request}\` answers ${row.status}${inWords(row)}.`,
    rest: (scene) => checkEndpoint(scene, row),
    graphql: (scene) => checkGraphql(scene, row),
  }));
}

async function checkGraphql(scene: Scene, row: EndpointRow) {
  const { mutation, query } = row;
  if (query) return expect(await query(scene)).toBeTruthy();
  const given = { ...(await row.places?.(scene)), ...(await row.body?.(scene)) };
  const outcome = await sendByGraphql(scene, { ...row, mutation: mutation as string }, given);
  expect(outcome).toMatchObject({ refusal: null });
}

function inWords({ answer: response }: EndpointRow): string {
  if (response === null) return ' without a body';
  return Array.isArray(response) ? ` with an array of ${response[0]}` : ` with ${response}`;
}

async function checkEndpoint(scene: Scene, row: EndpointRow) {
  const [method, template] = row.request.split(' ') as [Method, string];
  const { responses } = documented(scene, method, template);
  const { schema } = responses[row.status]?.content?.['application/json'] ?? {};
  expect(schema ? nameOf(schema) : null, 'the document has the answer').toEqual(row.answer);
  const { tenant, installation } = scene;
  const known: Places = {
    projectIdOrName: tenant.projectName,
    orgId: tenant.orgId,
    integrationId: installation.integrationId,
    installationId: installation.id,
    ...(await row.places?.(scene)),
  };
  const path = template.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? '');
  const client = row.isBuilders ? scene.builder : scene;
  const url = row.parameters ? `${path}?${row.parameters}` : path;
  const response = await client.ask(method, url, await row.body?.(scene));
  expect(response).toMatchObject({ status: row.status });
  if (row.answer === null) expect(response.body).toBe('');
  else expect(Array.isArray(response.body)).toBe(Array.isArray(row.answer));
}

interface Documented {
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}
interface Schema {
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}

/** The gateway may call a place otherwise; that has no meaning to a client. */
function documented({ app }: Scene, method: string, template: string): Documented {
  const { paths } = app.app.rest.swagger() as { paths: Record<string, object> };
  const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const found = Object.keys(paths).filter((path) => shapeOf(path) === shapeOf(template));
  const known = found.map(
    (path) => (paths[path] as Record<string, Documented>)[method.toLowerCase()],
  );
  const operation = known.find((one) => one);
  if (!operation) throw new Error(`The document has no ${method} ${template}.`);
  return operation;
}

function nameOf({ $ref, items, properties }: Schema): EndpointRow['answer'] {
  if (items) return [nameOf(items) as string];
  if (properties?.results) return 'results and pagination';
  return $ref?.split('/').at(-1) ?? 'an object';
}
