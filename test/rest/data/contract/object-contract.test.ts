/** The contract of a project over REST: its formats and its ETag. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { buildSchema, isInputObjectType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { ROOT } from '../../../support/documents.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../../../support/fixtures/integrations.ts';
import { createRestTenant, type RestTenant } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();
const run = promisify(execFile);

const INTEGRATION_CONTENT = createIntegrationContent('crm', {
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        mapToName: 'people',
        mapToDisplayName: 'People */ of customers',
        requiredFields: [
          { fieldName: 'email', mapToName: 'emailAddress' },
          { fieldName: 'score' },
          { fieldName: 'interests', mapToName: "customer's interests" },
        ],
        optionalFields: [
          { fieldName: 'birthday' },
          { fieldName: 'newsletter' },
          { fieldName: 'created_at' },
          { mapToName: 'tier' },
        ],
      },
    ],
  },
  write: { objects: [{ objectName: 'contacts', inheritMapping: true }, { objectName: 'deals' }] },
});

async function createDescribedTenant(): Promise<RestTenant> {
  const rest = await createRestTenant(app);
  const integration = await createIntegration(app, rest.tenant, INTEGRATION_CONTENT);
  const { id } = await connectAndInstall(rest.tenant, integration);
  const query = `query GetInstallation($id: ID!) {
    node(id: $id) { ... on Installation { contract { hash } } }
  }`;
  await rest.tenant.query(query, { id });
  await app.app.services.fieldLearner.waitUntilStored();
  return rest;
}

test('returns the contract with its hash as the ETag', async () => {
  const rest = await createDescribedTenant();
  const { headers, body } = await rest.request('GET', `${rest.base}/contract`);
  expect(headers.etag).toBe(`"${body.hash}"`);
  expect(body.objects[0]).toMatchObject({
    name: 'people',
    verbs: ['list', 'search', 'readById', 'create', 'update', 'delete'],
  });
  expect(body.objects[0].fields[0]).toMatchObject({
    name: 'emailAddress',
    providerField: 'email',
    type: 'string',
    isRequired: true,
    origin: 'required',
  });
  expect(body.findings).toEqual([]);
});

test.each([
  '',
  '.schema.json',
  '.graphql',
  '.d.ts',
])('returns 304 for a version of contract%s that the client has', async (form) => {
  const rest = await createDescribedTenant();
  const url = `/v1${rest.base}/contract${form}`;
  const key = { 'x-api-key': rest.tenant.apiKey };
  const requestContract = (tag?: string) =>
    app.app.rest.inject({ url, headers: { ...key, ...(tag && { 'if-none-match': tag }) } });
  const firstResponse = await requestContract();
  const etag = firstResponse.headers.etag as string;
  expect(firstResponse.statusCode).toBe(200);
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { statusCode, body, headers } = await requestContract(tag);
    expect({ statusCode, body, etag: headers.etag }).toEqual({ statusCode: 304, body: '', etag });
  }
  expect((await requestContract('"other"')).statusCode).toBe(200);
});

test('returns a JSON Schema that accepts valid inputs only', async () => {
  const rest = await createDescribedTenant();
  const schema = await rest.get(`${rest.base}/contract.schema.json`);
  const ajv = new Ajv2020({ allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(schema, 'contract');
  const isValid = (type: string, value: object) =>
    ajv.validate({ $ref: `contract#/$defs/${type}` }, value);
  const person = { emailAddress: 'ann@example.com', score: 7, birthday: '2000-01-31' };
  expect(isValid('CreatePeopleInput', person)).toBe(true);
  expect(isValid('CreatePeopleInput', { score: 7 })).toBe(false);
  expect(isValid('CreatePeopleInput', { ...person, score: 'seven' })).toBe(false);
  expect(isValid('CreatePeopleInput', { ...person, created_at: '2026-01-01T00:00:00Z' })).toBe(
    false,
  );
  expect(isValid('UpdatePeopleInput', { id: '1', score: null })).toBe(true);
  expect(isValid('UpdatePeopleInput', { score: 1 })).toBe(false);
  expect(isValid('CreateDealsInput', { anything: 1 })).toBe(true);
  const interests = { "customer's interests": ['pricing'] };
  expect(isValid('PeopleRecord', { id: '1', ...person, ...interests, more: 1 })).toBe(true);
  expect(isValid('PeopleRecord', { id: '1', ...person })).toBe(false);
});

test('returns valid GraphQL types', async () => {
  const rest = await createDescribedTenant();
  const { body } = await rest.request('GET', `${rest.base}/contract.graphql`);
  const types = buildSchema(body).getTypeMap();
  const listFields = (name: string) => {
    const type = types[name];
    if (!isObjectType(type) && !isInputObjectType(type)) throw new Error(`There is no ${name}.`);
    return Object.entries(type.getFields()).map(([field, { type: of }]) => `${field}: ${of}`);
  };
  expect(listFields('PeopleRecord')).toEqual([
    'id: ID!',
    'emailAddress: String',
    'score: Float',
    'customer_s_interests: [String!]',
    'birthday: Date',
    'newsletter: Boolean',
    'created_at: DateTime',
    'tier: JSON',
  ]);
  expect(listFields('CreatePeopleInput')).toContain('emailAddress: String!');
  expect(listFields('UpdatePeopleInput')).not.toContain('created_at: DateTime');
  expect(listFields('CreateDealsInput')).toEqual(['_otherFields: JSON']);
});

/** Compiles only if the declarations are exact. */
const PROGRAM = `
import type { CreatePeopleInput, Objects, PeopleRecord, UpdatePeopleInput } from './contract.d.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Members<T> = { [K in keyof T]: IsAny<T[K]> }[keyof T];
const hasAny: Exclude<Members<PeopleRecord> | Members<CreatePeopleInput>, undefined> = false;

export function use(person: Objects['people']['record']): UpdatePeopleInput {
  const created: CreatePeopleInput = { emailAddress: 'ann@example.com', birthday: null };
  const score: number | null = person.score;
  const interests: string[] | null = person["customer's interests"];
  const birthday: string | null | undefined = person.birthday;
  // @ts-expect-error: a new record must have an address.
  const missing: CreatePeopleInput = { score: 1 };
  // @ts-expect-error: the field is read-only.
  const readOnly: CreatePeopleInput = { emailAddress: 'a', created_at: 'now' };
  // @ts-expect-error: the field is a number.
  const wrong: string = person.score;
  const deal: Objects['deals']['create'] = { anything: [1, { x: null }] };
  return { id: person.id, score: hasAny ? null : score };
}
`;

test('returns TypeScript declarations that compile, without any', async () => {
  const rest = await createDescribedTenant();
  const { body } = await rest.request('GET', `${rest.base}/contract.d.ts`);
  expect(body.replaceAll(/\/\*.*?\*\/|\/\/.*/g, '')).not.toMatch(/\bany\b/);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-contract-'));
  try {
    writeFileSync(join(folder, 'contract.d.ts'), body);
    writeFileSync(join(folder, 'use.ts'), PROGRAM);
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = '--noEmit --strict --target es2024 --module nodenext --types';
    const files = ['--allowImportingTsExtensions', 'use.ts', 'contract.d.ts'];
    const compile = run(process.execPath, [tsc, ...options.split(' '), '', ...files], {
      cwd: folder,
    });
    const { stdout } = await compile.catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('requires the scope read', async () => {
  const rest = await createDescribedTenant();
  const otherKey = await rest.withScopes('events:write');
  expect(await otherKey.expectRefusal('GET', `${rest.base}/contract`)).toMatchObject({
    status: 403,
  });
  const otherTenant = await createRestTenant(app);
  expect(await otherTenant.expectRefusal('GET', `${rest.base}/contract`)).toMatchObject({
    status: 404,
  });
});
