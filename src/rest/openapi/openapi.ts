/** The OpenAPI 3.1 document, made from the endpoints as they are routed. */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { needText } from '../../domain/viewer/needs.ts';
import { problem } from '../../problem-schema.ts';
import { VERSION } from '../../version.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { enumNameOf, wordOf } from '../endpoint/words.ts';
import { webhooks } from '../webhooks.ts';
import { namedSchemas } from './schemas.ts';

/** The groups of endpoints, in the order of the document. */
const TAGS = [
  { name: 'Organizations', description: 'Companies of builders; they own projects.' },
  { name: 'Invites', description: 'E-mail addresses that are invited to orgs.' },
  { name: 'Claimed domains', description: 'E-mail domains that belong to an org.' },
  { name: 'Projects', description: 'Applications of builders; everything else belongs to one.' },
  { name: 'API keys', description: 'What callers of a project authenticate with.' },
  { name: 'End users', description: "Tokens for the people of a builder's own product." },
  { name: 'Groups', description: "Sets of the builder's users who share access." },
  { name: 'Consumers', description: "The builder's users, who connect accounts." },
  { name: 'Providers', description: 'The catalogue of third-party services.' },
  { name: 'Provider apps', description: 'OAuth clients that are registered at providers.' },
  { name: 'Connections', description: 'Accounts at providers that groups and consumers connect.' },
  { name: 'Object metadata', description: "The fields of providers' objects." },
  { name: 'Integrations', description: 'What is read and written at a provider, in revisions.' },
  { name: 'Contracts', description: 'Objects and fields that callers can rely on.' },
  { name: 'Plans', description: 'A project as a document, and the changes that lead to it.' },
  { name: 'Installations', description: 'Integrations that groups use.' },
  { name: 'Writes', description: "Records that are written to customers' accounts." },
  { name: 'Reads', description: 'Triggered reads; pausing and resuming scheduled ones.' },
  { name: 'Operations', description: 'Pieces of provider work, and what came of them.' },
  { name: 'Topics', description: 'Named streams of events.' },
  { name: 'Destinations', description: 'Where messages are sent.' },
  { name: 'Event routes', description: 'Which events go to which topic.' },
  { name: 'Topic routes', description: 'Which topics go to which destination.' },
  { name: 'Events', description: 'What happened in a project.' },
  { name: 'Deliveries', description: 'Messages to destinations, with their attempts.' },
  { name: 'Activity', description: 'What a project has done in some time, in counts.' },
];

export const BASE_PATH = '/v1';

const DESCRIPTION = `Projects, connections, integrations, and the records and events that move between them.
Rules, keys and limits are those of the GraphQL endpoint. Errors are problem documents (RFC 9457) that name every
offending input. The headers RateLimit and RateLimit-Policy tell how many requests a caller has left; after a 429
or a 503, Retry-After says when to try again.`;

export async function registerDocument(app: FastifyInstance): Promise<void> {
  const toSchema = createJsonSchemaTransform(ZOD);
  const toObject = createJsonSchemaTransformObject(ZOD);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Integration gateway',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: BASE_PATH, description: 'This gateway.' }],
      tags: TAGS,
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    stripBasePath: true,
    // The router calls the rest of a path `*`, which is no parameter's name in OpenAPI.
    transform: (given) => toSchema({ ...given, url: given.url.replace(/\*$/, ':path') }),
    transformObject: (document) => ({
      ...withoutUnused(toObject(document) as Document),
      webhooks: webhooks(),
    }),
  });
}

/** What the router and the document know of an endpoint. */
export function schemaOf(endpoint: Endpoint): FastifySchema {
  const { parts } = endpoint;
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, needText(endpoint.needs)].filter(Boolean).join(' '),
    security: endpoint.needs === 'bearer' ? [{ bearer: [] }] : [{ apiKey: [] }, { bearer: [] }],
    ...(parts.path && { params: parts.path }),
    ...(parts.query && { querystring: parts.query }),
    ...(parts.header && { headers: parts.header }),
    ...(parts.body && { body: parts.body }),
    response: {
      [endpoint.status]: success(endpoint),
      ...(endpoint.hasEtag && { 304: z.null().describe(UNCHANGED) }),
      ...failed(endpoint),
      ...REFUSALS,
    },
  };
}

function success({ id, output, status, mediaType: text }: Endpoint) {
  if (!output) return z.null().describe(status === 201 ? CREATED_WITHOUT_BODY : DONE_WITHOUT_BODY);
  const { description } = output;
  if (!description) throw new Error(`The output of ${id} needs a description.`);
  return { description, content: { [text ?? 'application/json']: { schema: output } } };
}

const CREATED_WITHOUT_BODY =
  'It is created. The answer has no body; the Location header says where it is.';
const UNCHANGED = 'The version that `If-None-Match` names is the current one.';
const DONE_WITHOUT_BODY = 'The change is made. The answer has no body.';

function failed({ failure, output }: Endpoint) {
  if (!failure || !output) return {};
  return {
    [failure.status]: {
      description:
        'The request was refused, or its work was tried and has failed: then the response is a problem only if `Accept` names application/problem+json.',
      content: {
        'application/json': { schema: output },
        [PROBLEM_TYPE]: { schema: z.union([failure.problem, problem]) },
      },
    },
  };
}

export const PROBLEM_TYPE = 'application/problem+json';

const refusal = (description: string) => ({
  description,
  content: { [PROBLEM_TYPE]: { schema: problem } },
});
const REFUSALS = {
  '4xx': refusal(
    'The request was refused: `detail` says why, and `issues` names every offending input.',
  ),
  '5xx': refusal('The provider or the gateway failed: `type` and `detail` say which.'),
};

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    name: 'X-Api-Key',
    in: 'header',
    description: 'An API key of one project. Its scopes say what it may do.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a builder, who may do everything in the projects of their orgs.',
  },
} as const;

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'];

const describe: Override = ({ zodSchema: schema, jsonSchema }) => {
  if (!(schema instanceof z.ZodType)) return;
  // The registry has our components alone: descriptions are in zod's own.
  const description = descriptionOf(schema);
  if (description) jsonSchema.description ??= description;
  if (schema instanceof z.ZodDate) {
    jsonSchema.type = 'string';
    jsonSchema.format = 'date-time';
  }
  if (schema instanceof z.ZodEnum) {
    const enumName = enumNameOf(schema);
    jsonSchema.enum = (schema.options as string[]).map((name) => wordOf(enumName, name));
  }
};

/** An optional schema without a description of its own takes that of the schema inside. */
function descriptionOf(schema: z.ZodType): string | undefined {
  if (schema.description) return schema.description;
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? descriptionOf(schema.unwrap() as z.ZodType) : undefined;
}

const ZOD = { schemaRegistry: namedSchemas, zodToJsonConfig: { override: describe } };

type Document = Partial<OpenAPIV3_1.Document>;

/** The transform adds every named schema, as input and as output: those that no endpoint refers to are left out. */
function withoutUnused(document: Document): Document {
  const { schemas = {}, ...components } = document.components ?? {};
  const used = new Set<string>();
  const follow = (part: unknown) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name === undefined || used.has(name)) continue;
      used.add(name);
      follow(schemas[name] ?? null);
    }
  };
  follow(document.paths);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...document, components: { ...components, schemas: Object.fromEntries(kept) } };
}
