/** Builds the OpenAPI 3.1 document from the registered endpoints. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { describeNeed, isForBuilders } from '../../domain/access/viewer/needs.ts';
import { ERROR_STATUS, problem } from '../../kernel/problem-schema.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { VERSION } from '../../kernel/version.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { findEnumName, toWord } from '../endpoint/words.ts';
import { createWebhooks } from '../webhooks.ts';
import { compressPage } from './compress-page.ts';
import { components, createResponseForm } from './response-form.ts';

export const BASE_PATH = '/v1';
export const PROBLEM_TYPE = 'application/problem+json';

/** The groups of endpoints, in the order of the document. */
const TAGS = [
  { name: 'Organizations', description: 'Companies of builders, which own projects.' },
  { name: 'Invites', description: 'Invitations of email addresses to orgs.' },
  { name: 'Claimed domains', description: 'Email domains that belong to an org.' },
  { name: 'Projects', description: 'Applications of builders. Everything else belongs to one.' },
  { name: 'API keys', description: 'Keys that authenticate callers of a project.' },
  {
    name: 'End users',
    description: "Short-lived tokens for the people who use a builder's product.",
  },
  { name: 'Groups', description: "Sets of the builder's users who share access." },
  { name: 'Consumers', description: "The builder's users, who connect accounts." },
  { name: 'Providers', description: 'The catalog of third-party services.' },
  { name: 'Custom providers', description: 'Providers that documents of a project describe.' },
  { name: 'Provider apps', description: 'OAuth clients that are registered at providers.' },
  { name: 'Connections', description: 'Accounts at providers that groups and consumers connect.' },
  { name: 'Object metadata', description: "The fields of providers' objects." },
  {
    name: 'Integrations',
    description: 'Configurations of reads and writes at a provider, in revisions.',
  },
  { name: 'Contracts', description: 'Objects and fields that callers can rely on.' },
  { name: 'Plans', description: 'The changes that a project document makes to a project.' },
  { name: 'Installations', description: 'Integrations that groups use.' },
  { name: 'Writes', description: "Writes of records to customers' accounts." },
  { name: 'Reads', description: 'Triggered reads; pausing and resuming scheduled ones.' },
  { name: 'Operations', description: 'Units of provider work, and their outcomes.' },
  {
    name: 'Agents',
    description: 'Sessions of agents, and the writes that they propose.',
  },
  { name: 'Topics', description: 'Names that group events for destinations and subscribers.' },
  { name: 'Destinations', description: 'Webhooks and streams that receive messages.' },
  { name: 'Event routes', description: 'Routes of event types to topics.' },
  { name: 'Topic routes', description: 'Routes of topics to destinations.' },
  { name: 'Events', description: 'Events that happened in a project.' },
  { name: 'Deliveries', description: 'Messages to destinations, with their attempts.' },
  { name: 'Activity', description: "Counts of a project's activity over time." },
];

const DESCRIPTION =
  'Projects, connections, integrations, and the records and events that move between them. The same rules, keys and limits apply as for the GraphQL endpoint. Errors are problem documents (RFC 9457) that name every invalid input. The headers RateLimit and RateLimit-Policy contain the number of requests that a caller has left. After a 429 or a 503, Retry-After says when to try again.';

export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  const toSchema = createJsonSchemaTransform(TRANSFORM_OPTIONS);
  const toObject = createJsonSchemaTransformObject(TRANSFORM_OPTIONS);
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
    // The router names the remaining path `*`, which is not a parameter name in OpenAPI.
    transform: (route) => toSchema({ ...route, url: route.url.replace(/\*$/, ':path') }),
    transformObject: (document) => ({
      ...removeUnused(toObject(document) as Document),
      webhooks: createWebhooks(),
    }),
  });
}

/** Returns the schema that the router and the document use for an endpoint. */
export function createRouteSchema(endpoint: Endpoint): FastifySchema {
  const { path, query, header, body } = endpoint.partSchemas;
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, describeNeed(endpoint.needs)].filter(Boolean).join(' '),
    security: isForBuilders(endpoint.needs) ? [{ bearer: [] }] : [{ apiKey: [] }, { bearer: [] }],
    ...(path && { params: path }),
    ...(query && { querystring: query }),
    ...(header && { headers: header }),
    ...(body && { body }),
    response: {
      [endpoint.status]: createSuccess(endpoint),
      ...(endpoint.hasEtag && { 304: z.null().describe(UNCHANGED) }),
      ...createFailure(endpoint),
      ...REFUSALS,
    },
  };
}

const CREATED_WITHOUT_BODY =
  'The object is created. The response has no body; the Location header has its URL.';
const UNCHANGED = 'The version that `If-None-Match` names is the current one.';
const DONE_WITHOUT_BODY = 'The change is complete. The response has no body.';

function createSuccess({ id, output, status, mediaType }: Endpoint) {
  if (!output) return z.null().describe(status === 201 ? CREATED_WITHOUT_BODY : DONE_WITHOUT_BODY);
  const { description } = output;
  if (!description) throw new Error(`The output of ${id} needs a description.`);
  return { description, content: { [mediaType ?? 'application/json']: { schema: output } } };
}

function createFailure({ failure, output }: Endpoint) {
  if (!failure || !output) return {};
  return {
    [ERROR_STATUS.UNPROCESSABLE]: {
      description:
        'The request was refused, or its work was attempted and failed. In the second case, the response is a problem only if `Accept` names application/problem+json.',
      content: {
        'application/json': { schema: output },
        [PROBLEM_TYPE]: { schema: z.union([createResponseForm(failure.problem).schema, problem]) },
      },
    },
  };
}

function createRefusal(description: string) {
  return { description, content: { [PROBLEM_TYPE]: { schema: problem } } };
}

const REFUSALS = {
  '4xx': createRefusal(
    'The request was refused. `detail` has the reason, and `issues` names every invalid input.',
  ),
  '5xx': createRefusal('The provider or the gateway failed. `type` and `detail` identify which.'),
};

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    name: 'X-Api-Key',
    in: 'header',
    description: 'An API key of one project. Its scopes determine what it may do.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a builder, who may do everything in the projects of their orgs.',
  },
} as const;

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'];

const completeSchema: Override = ({ zodSchema: schema, jsonSchema }) => {
  if (!(schema instanceof z.ZodType)) return;
  // The registry contains only named components. Descriptions are in zod's own registry.
  const description = findDescription(schema);
  if (description) jsonSchema.description ??= description;
  if (schema instanceof z.ZodDate) {
    jsonSchema.type = 'string';
    jsonSchema.format = 'date-time';
  }
  if (schema instanceof z.ZodEnum) {
    const enumName = findEnumName(schema);
    jsonSchema.enum = (schema.options as string[]).map((name) => toWord(enumName, name));
  }
  if (jsonSchema.default !== undefined)
    jsonSchema.default = toWireDefault(unwrapSchema(schema).inner, jsonSchema.default);
};

/** Returns the default in the form of requests, in which enums have other words than in the domain. */
function toWireDefault(schema: z.ZodType, value: unknown): typeof value & z.core.util.JSONType {
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const { inner } = unwrapSchema(schema.element as z.ZodType);
    return value.map((item) => toWireDefault(inner, item));
  }
  if (!(schema instanceof z.ZodEnum)) return value as z.core.util.JSONType;
  return toWord(findEnumName(schema), value as string);
}

/** Returns the description of a schema. An optional schema without a description takes the inner schema's description. */
function findDescription(schema: z.ZodType): string | undefined {
  if (schema.description) return schema.description;
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? findDescription(schema.unwrap() as z.ZodType) : undefined;
}

const TRANSFORM_OPTIONS = {
  schemaRegistry: components,
  zodToJsonConfig: { override: completeSchema },
};

type Document = Partial<OpenAPIV3_1.Document>;

/** Removes named schemas that no endpoint uses. The transform registers each schema twice, for input and for output. */
function removeUnused(document: Document): Document {
  const { schemas = {}, ...otherComponents } = document.components ?? {};
  const usedNames = new Set<string>();
  const collectNames = (node: unknown) => {
    for (const [, name] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name === undefined || usedNames.has(name)) continue;
      usedNames.add(name);
      collectNames(schemas[name] ?? null);
    }
  };
  collectNames(document.paths);
  const usedSchemas = Object.entries(schemas).filter(([name]) => usedNames.has(name));
  return {
    ...document,
    components: { ...otherComponents, schemas: Object.fromEntries(usedSchemas) },
  };
}

/** Allows the page's own files, and the styles and images that Swagger UI inserts. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Applies the theme that the reader chose in the console. Default: the system's theme. */
const THEME_SCRIPT = `
const isDark = matchMedia('(prefers-color-scheme: dark)');
const apply = () => {
  const theme = localStorage.getItem('gateway.theme') ?? (isDark.matches ? 'dark' : 'light');
  document.documentElement.classList.toggle('dark-mode', theme === 'dark');
};
isDark.addEventListener('change', apply);
apply();
`;

/**
 * Registers the document at /v1/openapi.json, and the reference page at /v1/docs: Swagger UI from this server, which loads
 * nothing from outside.
 */
export async function registerPage(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    compressPage(scope, BASE_PATH);
    scope.get('/openapi.json', { schema: { hide: true } as object }, () => app.swagger());
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: BASE_PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: {
        title: 'Integration gateway',
        js: [{ filename: 'theme.js', content: THEME_SCRIPT }],
      },
      uiConfig: {
        // Removes the bar that could load another server's document.
        layout: 'BaseLayout',
        // Collapses the tags. With 150 open rows or more, Swagger UI draws only those in view, and the browser's search
        // misses the other rows.
        docExpansion: 'none',
        tryItOutEnabled: true,
      },
    });
  });
}
