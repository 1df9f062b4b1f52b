/** Inputs that are accepted at their limits, and inputs that are known to be expensive to refuse. */
import { createHmac } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { createJwtKeyPair } from '../../support/fixtures/end-users.ts';
import { contentFor, toRevision } from '../../support/fixtures/integrations.ts';
import { contact, WRITE, type Writer } from '../../support/fixtures/writes.ts';
import type { LargeInput } from './walked-inputs.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function graphql(name: string, query: string, variables: object = {}): LargeInput {
  const body = JSON.stringify({ query, variables });
  return { name: `GraphQL ${name}`, method: 'POST', path: '/graphql', headers: JSON_TYPE, body };
}

function rest(name: string, path: string, body?: object): LargeInput {
  const given = body && { headers: JSON_TYPE, body: JSON.stringify(body) };
  return { name: `REST ${name}`, method: body ? 'POST' : 'GET', path, ...given };
}

const times = <T>(count: number, item: (at: number) => T) =>
  Array.from({ length: count }, (_, index) => item(index));

const OPERATION =
  '{ edges { cursor node { id status result actionType createTime metadata { objects } } } }';
/** Costs 49,000 of LIMIT_COST. */
const PAGES = `{ ${times(24, (at) => `a${at}: viewer { project { operations(first: 1000) ${OPERATION} } }`).join(' ')} }`;
const NESTED = `{ viewer { project { operations(first: 1000) { nodes { id project { operations(first: 48) { nodes { id status } } } } } } } }`;

/** Makes each document unique, so that no cache has it. Documents have up to 2,000 tokens and 64 KiB. */
let sent = 0;
function documents(): LargeInput[] {
  sent += 1;
  const unknown = times(950, (at) => `operatio${sent}n${at}`).join(' ');
  const fragments = times(60, (at) => `fragment F${at} on Project { id ...F${at + 1} name }`).join(
    ' ',
  );
  const same = times(400, () => 'x: id').join(' ');
  const text = 'a'.repeat(60_000);
  return [
    graphql('introspection', getIntrospectionQuery().replace('query', `query Q${sent} `)),
    graphql('document of 950 unknown fields', `{ viewer { project { ${unknown} } } }`),
    graphql(
      'document of 60 fragments in each other',
      `query Q${sent} { viewer { project { ...F0 } } } ${fragments} fragment F60 on Project { id }`,
    ),
    graphql(
      'document with 400 fields of one name',
      `query Q${sent} { viewer { project { ${same} } } }`,
    ),
    graphql(
      'document with a text of 60,000 characters',
      `query Q${sent} { project(idOrName: "${text}") { id } }`,
    ),
    graphql(
      'document of 30,000 comments',
      `${'#\n'.repeat(30_000)}query Q${sent} { viewer { kind } }`,
    ),
    graphql(
      'document of 900 lists in each other',
      `{ node(id: ${'['.repeat(900)}${sent}${']'.repeat(900)}) { id } }`,
    ),
    graphql(
      'document of 60,000 commas',
      `query Q${sent} { viewer { kind } } ${','.repeat(60_000)}`,
    ),
  ];
}

/** Manifests of 128 KiB, and with the maximum number of objects. */
function manifests({ projectId }: Writer): LargeInput[] {
  const path = `/v1/projects/${projectId}/integrations/crm/revisions`;
  const objects = times(500, (at) => ({
    objectName: `object${at}`,
    destination: 'records',
    schedule: '0 * * * *',
  }));
  const yaml = (length: number) =>
    times(18_000, (at) => `k${at}: `)
      .join('\n')
      .slice(0, length);
  const revision = toRevision(contentFor('crm', { read: { objects } }));
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', revision };
  return [
    rest('manifest of 128 KiB', path, { sourceYaml: yaml(131_000) }),
    rest('manifest of 4 KiB, which no thread reads', path, { sourceYaml: yaml(4_096) }),
    rest('manifest of 30 levels, many times', path, {
      sourceYaml: `- ${'['.repeat(30)}${']'.repeat(30)}\n`.repeat(2_000),
    }),
    rest('manifest with aliases', path, {
      sourceYaml: `a: &a [${'1,'.repeat(30_000)}]\nb: [${'*a,'.repeat(99)}]`,
    }),
    rest('manifest with lists of 128 KiB', path, { sourceYaml: `a: [${'[],'.repeat(43_000)}]` }),
    graphql(
      'revision with 500 objects',
      'mutation ($input: CreateRevisionInput!) { createRevision(input: $input) { revision { id } } }',
      { input },
    ),
  ];
}

function records(writer: Writer): LargeInput[] {
  const long = { ...contact(), note: 'a'.repeat(9_000) };
  const wide = Object.fromEntries(times(90, (at) => [`field${at}`, 'a'.repeat(90)]));
  const batch = (record: object) => times(100, () => ({ record }));
  return [
    graphql('batch of 100 records with long texts', WRITE, writer.input({ batch: batch(long) })),
    graphql(
      'batch of 100 records with 90 fields',
      WRITE,
      writer.input({ batch: batch({ ...contact(), ...wide }) }),
    ),
  ];
}

function credentials({ projectId }: Writer): LargeInput[] {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = [
    encoded({ alg: 'RS256', kid: 'unknown' }),
    encoded({ sub: 'a'.repeat(9_000) }),
    'a'.repeat(2_000),
  ];
  const KEY =
    'mutation ($input: CreateJwtKeyInput!) { createJwtKey(input: $input) { jwtKey { id } } }';
  const key = (publicKeyPem: string) => ({
    input: { projectIdOrName: projectId, label: 'key', publicKeyPem },
  });
  return [
    {
      ...graphql('bearer token of 15 KB', '{ viewer { kind } }'),
      headers: { ...JSON_TYPE, authorization: `Bearer ${token.join('.')}` },
    },
    {
      ...graphql('API key of 15 KB', '{ viewer { kind } }'),
      headers: { ...JSON_TYPE, 'x-api-key': 'a'.repeat(15_000) },
    },
    graphql('JWT key of 8,192 bits', KEY, key(createJwtKeyPair(8_192).publicKeyPem)),
    {
      name: 'head of 15 KB with 1,000 headers',
      method: 'GET',
      path: '/v1/projects',
      headers: Object.fromEntries(times(1_000, (at) => [`x-${at}`, 'abc'])),
    },
    rest('query of 15 KB', `/v1/projects?${times(1_500, (at) => `a${at}=1`).join('&')}`),
    rest(
      'cursor of 2,000 characters',
      `/v1/projects/${projectId}/operations?pageToken=${'a'.repeat(2_000)}`,
    ),
  ];
}

function webhooks(): LargeInput[] {
  const path = '/webhooks/sandbox/app_00000000000000000000000000';
  const events = JSON.stringify({
    events: times(7_000, (at) => ({
      eventId: at,
      type: 'contact.updated',
      objectId: `contact ${at}`,
      time: '2026-01-01T00:00:00Z',
    })),
  });
  const signature = createHmac('sha256', 'secret').update(events).digest('hex');
  return [
    {
      name: 'events of an unknown app, 1 MB',
      method: 'POST',
      path,
      headers: { ...JSON_TYPE, 'x-sandbox-signature': signature },
      body: events,
    },
  ];
}

/** The largest message that a WebSocket accepts. */
function message(): LargeInput {
  const query = 'a"'.repeat(80_000);
  const body = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } });
  return { name: 'WebSocket message of 240 KB', method: 'WebSocket', path: '', body };
}

/** Returns new inputs at each call. */
export function chosenInputs(writer: Writer): LargeInput[] {
  return [
    graphql('24 pages of 1,000 operations', PAGES),
    graphql('48 operations of each of 1,000', NESTED),
    rest('page of 1,000 operations', `/v1/projects/${writer.projectId}/operations?pageSize=1000`),
    ...documents(),
    ...manifests(writer),
    ...records(writer),
    ...credentials(writer),
    ...webhooks(),
    message(),
  ];
}
