/** Inputs that are accepted at their limits, and inputs that are expensive to refuse. */
import { createHmac } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { CREATE_JWT_KEY, createJwtKeyPair } from '../../support/fixtures/end-users.ts';
import { createIntegrationContent, toRevision } from '../../support/fixtures/integrations.ts';
import { createContact, WRITE_RECORDS, type Writer } from '../../support/fixtures/writes.ts';
import { createProviderApp } from '../../support/providers/oauth.ts';
import { createHostileTexts } from './hostile-texts.ts';
import {
  createGraphqlInput,
  createRestInput,
  JSON_HEADERS,
  type LargeInput,
  repeat,
} from './large-input.ts';
import { createManyObjects, createSchedule } from './many-objects.ts';
import { createProviderDocuments } from './provider-documents.ts';

const OPERATION_FIELDS =
  '{ edges { cursor node { id status result actionType createTime metadata { objects } } } }';
/** Costs 49,000 of LIMIT_COST. */
const PAGES_QUERY = `{ ${repeat(24, (index) => `a${index}: viewer { project { operations(first: 1000) ${OPERATION_FIELDS} } }`).join(' ')} }`;
const NESTED_QUERY = `{ viewer { project { operations(first: 1000) { nodes { id project { operations(first: 48) { nodes { id status } } } } } } } }`;

/** Makes the documents of each call unique, so that no cache contains them. */
let round = 0;
/** Returns documents near the limits of 2,000 tokens and 64 KiB. */
function createDocuments(): LargeInput[] {
  round += 1;
  // Names similar to `operations` make the suggestions of validation expensive.
  const unknownFields = repeat(950, (index) => `operatio${round}n${index}`).join(' ');
  const fragments = repeat(
    60,
    (index) => `fragment F${index} on Project { id ...F${index + 1} name }`,
  ).join(' ');
  const sameFields = repeat(400, () => 'x: id').join(' ');
  const text = 'a'.repeat(60_000);
  return [
    createGraphqlInput(
      'introspection',
      getIntrospectionQuery().replace('query', `query Q${round} `),
    ),
    createGraphqlInput(
      'document of 950 unknown fields',
      `{ viewer { project { ${unknownFields} } } }`,
    ),
    createGraphqlInput(
      'document of 60 nested fragments',
      `query Q${round} { viewer { project { ...F0 } } } ${fragments} fragment F60 on Project { id }`,
    ),
    createGraphqlInput(
      'document with 400 fields of one name',
      `query Q${round} { viewer { project { ${sameFields} } } }`,
    ),
    createGraphqlInput(
      'document with a text of 60,000 characters',
      `query Q${round} { project(idOrName: "${text}") { id } }`,
    ),
    createGraphqlInput(
      'document of 30,000 comments',
      `${'#\n'.repeat(30_000)}query Q${round} { viewer { kind } }`,
    ),
    createGraphqlInput(
      'document of 900 nested lists',
      `{ node(id: ${'['.repeat(900)}${round}${']'.repeat(900)}) { id } }`,
    ),
    createGraphqlInput(
      'document of 60,000 commas',
      `query Q${round} { viewer { kind } } ${','.repeat(60_000)}`,
    ),
  ];
}

const CREATE_REVISION = `mutation CreateRevision($input: CreateRevisionInput!) {
  createRevision(input: $input) { revision { id } }
}`;

/** Returns manifests of 128 KiB, and revisions with the maximum number of objects and more. */
function createManifests({ projectId }: Writer): LargeInput[] {
  const path = `/v1/projects/${projectId}/integrations/crm/revisions`;
  const objects = repeat(500, (index) => ({
    objectName: `object${index}`,
    destination: 'records',
    schedule: '0 * * * *',
  }));
  const createYaml = (length: number) =>
    repeat(18_000, (index) => `k${index}: `)
      .join('\n')
      .slice(0, length);
  const scheduled = objects.slice(0, 200).map((object, index) => ({
    ...object,
    schedule: `0,50 0,23 ${1 + (index % 28)} ${1 + (index % 12)} *`,
  }));
  const [input, scheduledInput] = [objects, scheduled].map((items) => ({
    ...{ projectIdOrName: projectId, integrationIdOrName: 'crm' },
    revision: toRevision(createIntegrationContent('crm', { read: { objects: items } })),
  }));
  return [
    createRestInput('manifest of 128 KiB', path, { sourceYaml: createYaml(131_000) }),
    createRestInput('manifest of 4 KiB, which is parsed without a thread', path, {
      sourceYaml: createYaml(4_096),
    }),
    createRestInput('manifest of 30 levels, many times', path, {
      sourceYaml: `- ${'['.repeat(30)}${']'.repeat(30)}\n`.repeat(2_000),
    }),
    createRestInput('manifest with aliases', path, {
      sourceYaml: `a: &a [${'1,'.repeat(30_000)}]\nb: [${'*a,'.repeat(99)}]`,
    }),
    createRestInput('manifest with lists of 128 KiB', path, {
      sourceYaml: `a: [${'[],'.repeat(43_000)}]`,
    }),
    createGraphqlInput('revision with 500 objects', CREATE_REVISION, { input }),
    createGraphqlInput('revision with 200 schedules', CREATE_REVISION, { input: scheduledInput }),
  ];
}

function createRecords(writer: Writer): LargeInput[] {
  const longRecord = { ...createContact(), note: 'a'.repeat(9_000) };
  const wideFields = Object.fromEntries(repeat(90, (index) => [`field${index}`, 'a'.repeat(90)]));
  const createBatch = (record: object) => repeat(100, () => ({ record }));
  return [
    createGraphqlInput(
      'batch of 100 records with long texts',
      WRITE_RECORDS,
      writer.createVariables({ batch: createBatch(longRecord) }),
    ),
    createGraphqlInput(
      'batch of 100 records with 90 fields',
      WRITE_RECORDS,
      writer.createVariables({ batch: createBatch({ ...createContact(), ...wideFields }) }),
    ),
  ];
}

function createCredentials({ projectId }: Writer): LargeInput[] {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = [
    encode({ alg: 'RS256', kid: 'unknown' }),
    encode({ sub: 'a'.repeat(9_000) }),
    'a'.repeat(2_000),
  ];
  const { publicKeyPem } = createJwtKeyPair(8_192);
  const keyInput = { projectIdOrName: projectId, label: 'key', publicKeyPem };
  return [
    {
      ...createGraphqlInput('bearer token of 15 KB', '{ viewer { kind } }'),
      headers: { ...JSON_HEADERS, authorization: `Bearer ${token.join('.')}` },
    },
    {
      ...createGraphqlInput('API key of 15 KB', '{ viewer { kind } }'),
      headers: { ...JSON_HEADERS, 'x-api-key': 'a'.repeat(15_000) },
    },
    createGraphqlInput('JWT key of 8,192 bits', CREATE_JWT_KEY, { input: keyInput }),
    {
      name: 'head of 15 KB with 1,000 headers',
      method: 'GET',
      path: '/v1/projects',
      headers: Object.fromEntries(repeat(1_000, (index) => [`x-${index}`, 'abc'])),
    },
    createRestInput(
      'query of 15 KB',
      `/v1/projects?${repeat(1_500, (index) => `a${index}=1`).join('&')}`,
    ),
    createRestInput(
      'cursor of 2,000 characters',
      `/v1/projects/${projectId}/operations?pageToken=${'a'.repeat(2_000)}`,
    ),
  ];
}

/** Apps at which vendors' events arrive, by the provider. Their secret is EVENTS_SECRET. */
export interface EventApps {
  /** The URL of the gateway, which HubSpot signs. */
  url: string;
  ids: Record<EventProvider, string>;
}

export const EVENTS_SECRET = 'the secret of events';
const EVENT_PROVIDERS = ['sandbox', 'hubspot', 'github'] as const;
type EventProvider = (typeof EVENT_PROVIDERS)[number];

/** Creates the apps. */
export async function createEventApps(writer: Writer): Promise<EventApps['ids']> {
  const client = { clientId: 'client', clientSecret: 'the secret of the client' };
  const createApp = (provider: EventProvider) =>
    createProviderApp(writer, { ...client, provider, webhookSecret: EVENTS_SECRET });
  const [sandbox, hubspot, github] = await Promise.all(EVENT_PROVIDERS.map(createApp));
  return { sandbox: sandbox ?? '', hubspot: hubspot ?? '', github: github ?? '' };
}

/** Returns a signed request with events. */
function signEvents({ url, ids }: EventApps, provider: EventProvider, body: string): LargeInput {
  const path = `/webhooks/${provider}/${ids[provider]}`;
  const sign = (encoding: 'hex' | 'base64', ...parts: string[]) =>
    createHmac('sha256', EVENTS_SECRET).update(parts.join('')).digest(encoding);
  const ms = String(Date.now());
  const seconds = ms.slice(0, -3);
  const signatures: Record<EventProvider, Record<string, string>> = {
    sandbox: { 'x-sandbox-signature': `t=${seconds},v1=${sign('hex', seconds, '.', body)}` },
    hubspot: {
      'x-hubspot-request-timestamp': ms,
      'x-hubspot-signature-v3': sign('base64', 'POST', url, path, body, ms),
    },
    github: {
      'x-github-event': 'issues',
      'x-hub-signature-256': `sha256=${sign('hex', body)}`,
    },
  };
  return {
    ...{ name: `signed events of ${provider}`, method: 'POST', path },
    ...{ headers: { ...JSON_HEADERS, ...signatures[provider] }, body },
  };
}

const time = '2026-01-01T00:00:00Z';

/** Returns events by their form: valid ones, and ones of unknown types, which have any form. */
function createEvents(): Record<EventProvider, Record<string, string>> {
  const deleted = (index: number) => ({
    ...{ id: `${index}`, type: 'contacts.deleted', account: 'acme', objectName: 'contacts' },
    ...{ recordId: `${index}`, occurredAt: time },
  });
  const sent = (index: number) => ({
    ...{ eventId: index, subscriptionId: 1, portalId: 1, occurredAt: 1, objectId: index },
    subscriptionType: 'contact.creation',
  });
  const unknown = (name: string, count: number) => repeat(count, () => ({ [name]: 'x' }));
  return {
    sandbox: {
      valid: JSON.stringify({ events: repeat(1_000, deleted) }),
      unknown: JSON.stringify({ events: unknown('type', 1_000) }),
    },
    hubspot: {
      valid: JSON.stringify(repeat(1_000, sent)),
      unknown: JSON.stringify(unknown('subscriptionType', 1_000)),
    },
    github: {
      valid: JSON.stringify({
        ...{ action: 'opened', repository: { owner: { login: 'acme' } } },
        issue: { number: 1, body: 'x'.repeat(900_000) },
      }),
    },
  };
}

/** Returns signed events near the maximum size, valid and hostile. */
function createSignedEvents(apps: EventApps): LargeInput[] {
  const events = createEvents();
  return EVENT_PROVIDERS.flatMap((provider) => [
    ...Object.entries(events[provider]).map(([name, body]) => {
      const input = signEvents(apps, provider, body);
      return { ...input, name: `${input.name}: ${name}` };
    }),
    ...createHostileTexts(900_000).flatMap(({ name, text }) =>
      [text, `{"events":${text}}`].map((body, index) => {
        const input = signEvents(apps, provider, body);
        return { ...input, name: `${input.name}: ${name}, ${index === 0 ? 'bare' : 'in events'}` };
      }),
    ),
  ]);
}

const PLAN_PROJECT = `mutation PlanProject($input: PlanProjectInput!) {
  planProject(input: $input) { plan { id } }
}`;

/** Returns a project document of 28 integrations, each of whose objects has a schedule of its own. */
function createSchedulesDocument(): string {
  const integrations = repeat(28, (number) => {
    const objects = repeat(198, (index) => {
      return `{objectName: object${index}, destination: records, schedule: "${createSchedule(number, index)}"}`;
    });
    return `- {name: crm${number}, provider: sandbox, read: {objects: [${objects.join(', ')}]}}`;
  });
  return `specVersion: 1.0.0\nintegrations:\n${integrations.join('\n')}`;
}

/** Returns project documents of 512 KiB, which a thread parses and the main thread validates. */
function createPlans({ projectId }: Writer): LargeInput[] {
  const documents: Record<string, string> = {
    'of unknown members': repeat(30_000, (index) => `key${index}: 1`).join('\n'),
    'of invalid topics': `topics:\n${'- {}\n'.repeat(9_000)}`,
    'of lists': `topics: [${'[],'.repeat(170_000)}]`,
    'of 5,500 schedules': createSchedulesDocument(),
  };
  return Object.entries(documents).map(([name, text]) => {
    const input = { projectIdOrName: projectId, document: text.slice(0, 512 * 1024) };
    return createGraphqlInput(`plan ${name}`, PLAN_PROJECT, { input });
  });
}

/** Returns JSON texts as bodies of both APIs, and as events of unknown apps. */
function createHostileBodies({ projectId }: Writer): LargeInput[] {
  return createHostileTexts(1_000_000).flatMap(({ name, text }) => {
    const input = { method: 'POST', headers: JSON_HEADERS, body: text };
    const variables = `{"query":"{ viewer { kind } }","variables":{"a":${text.slice(0, 950_000)}}}`;
    return [
      { ...input, name: `REST body: ${name}`, path: `/v1/projects/${projectId}/topics` },
      { ...input, name: `GraphQL body: ${name}`, path: '/graphql' },
      { ...input, name: `GraphQL variables: ${name}`, path: '/graphql', body: variables },
      ...['sandbox', 'hubspot', 'zoho'].map((provider) => ({
        ...input,
        name: `events of ${provider}: ${name}`,
        path: `/webhooks/${provider}/app_00000000000000000000000000`,
      })),
    ];
  });
}

/** Returns messages of MCP near their limits of 256 KiB and 1,000 values, and above. */
function createMcpMessages({ projectId }: Writer): LargeInput[] {
  const path = `/mcp/projects/${projectId}`;
  const headers = { ...JSON_HEADERS, accept: 'application/json, text/event-stream' };
  const create = (name: string, method: string, params: string) => ({
    ...{ name: `MCP ${name}`, method: 'POST', path, headers },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
  });
  const createClient = (icons: string) =>
    `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1","icons":${icons}}}`;
  const invalidItems = `[${repeat(950, () => '{}').join(',')}]`;
  const text = JSON.stringify('a'.repeat(80_000));
  return [
    ...createHostileTexts(250_000).map((hostile) =>
      create(`client: ${hostile.name}`, 'initialize', createClient(hostile.text)),
    ),
    create('client with 950 invalid icons', 'initialize', createClient(invalidItems)),
    ...['tools/list', 'tools/call', 'server/discover', 'subscriptions/listen', 'ping'].flatMap(
      (method) => [
        create(`${method} with 950 items`, method, `{"name":${invalidItems}}`),
        create(`${method} with a long text`, method, `{"name":${text}}`),
      ],
    ),
    ...[
      'search_objects',
      'describe_object',
      'read_records',
      'propose_write',
      'get_proposal',
      'commit_write',
      'get_operation',
    ].flatMap((tool) =>
      [invalidItems, text].map((value, index) => {
        const args = `{"objectName":${value},"fields":${value},"values":{"a":${text}}}`;
        const params = `{"name":"${tool}","arguments":${index === 0 ? `{"fields":${value}}` : args}}`;
        return create(
          `${tool} with ${index === 0 ? '950 items' : 'long texts'}`,
          'tools/call',
          params,
        );
      }),
    ),
  ];
}

/** Returns messages near the limit of a WebSocket. */
function createMessages(): LargeInput[] {
  const query = 'a"'.repeat(80_000);
  const body = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } });
  const create = (name: string, message: string) => ({
    ...{ name: `WebSocket message: ${name}`, method: 'WebSocket', path: '', body: message },
  });
  return [
    create('240 KB', body),
    ...createHostileTexts(250_000).map(({ name, text }) =>
      create(
        name,
        `{"id":"1","type":"subscribe","payload":{"query":"{ viewer { kind } }","variables":{"a":${text}}}}`,
      ),
    ),
  ];
}

/** Returns all inputs, with documents that no earlier call returned. */
export function createExpensiveInputs(writer: Writer, apps: EventApps): LargeInput[] {
  return [
    createGraphqlInput('24 pages of 1,000 operations', PAGES_QUERY),
    createGraphqlInput('48 operations of each of 1,000', NESTED_QUERY),
    createRestInput(
      'page of 1,000 operations',
      `/v1/projects/${writer.projectId}/operations?pageSize=1000`,
    ),
    ...createDocuments(),
    ...createManifests(writer),
    ...createManyObjects(writer, 'sandbox'),
    ...createProviderDocuments(writer),
    ...createRecords(writer),
    ...createCredentials(writer),
    ...createSignedEvents(apps),
    ...createPlans(writer),
    ...createHostileBodies(writer),
    ...createMcpMessages(writer),
    ...createMessages(),
  ];
}
