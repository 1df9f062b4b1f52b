/** Rules for all requests and responses, and for the query parameters of some endpoints. */
import { expect } from 'vitest';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createProjectBody } from '../support/conformance/fresh-resources.ts';
import type { Rule, Section } from '../support/conformance/rule.ts';

const findProjectId = async ({ tenant }: Fixture, idOrName: string) => {
  const query = 'query GetProject($idOrName: String!) { project(idOrName: $idOrName) { id } }';
  return (await tenant.query(query, { idOrName })).project?.id;
};

const conventionRules: Rule[] = [
  {
    title: 'Paths begin with `/v1`, the version of the API.',
    rest: async ({ app, tenant, base }) => {
      const headers = { 'x-api-key': tenant.apiKey };
      expect((await app.fetch(`/v1${base}`, { headers })).status).toBe(200);
      for (const version of ['', '/v0', '/v2']) {
        expect((await app.fetch(`${version}${base}`, { headers })).status).toBe(404);
      }
    },
  },
  {
    title: 'Bodies of requests are JSON, `Content-Type: application/json`.',
    rest: async ({ app, tenant, base, createUniqueName }) => {
      const send = (type: string, body: string) =>
        app.fetch(`/v1${base}/topics`, {
          method: 'POST',
          headers: { 'x-api-key': tenant.apiKey, 'content-type': type },
          body,
        });
      const body = JSON.stringify({ name: createUniqueName('topic') });
      expect((await send('text/plain', body)).status).toBe(415);
      expect((await send('application/json', '{')).status).toBe(400);
      const response = await send('application/json', body);
      expect(response.status).toBe(201);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    },
  },
  {
    title: 'Times are ISO 8601 in UTC, whatever the time zone of the input.',
    rest: async ({ post, get, base, createUniqueName }) => {
      const token = { token: 'at', issuedAt: '2026-01-01T02:00:00+02:00' };
      const account = {
        groupRef: createUniqueName('group'),
        consumerRef: 'ann',
        provider: 'sandbox',
      };
      const body = { ...account, oauth2AuthorizationCode: { accessToken: token } };
      const { id } = await post(`${base}/connections:generate`, body);
      const response = await get(`${base}/connections/${id}?includeCreds=true`);
      const { issuedAt } = response.oauth2AuthorizationCode.accessToken;
      expect(issuedAt).toBe('2026-01-01T00:00:00.000Z');
    },
  },
  {
    title: 'A project is identified by its id or its name.',
    rest: async ({ get, tenant: { projectId, projectName } }) => {
      for (const name of [projectId, projectName]) {
        expect(await get(`/projects/${name}`)).toMatchObject({ id: projectId });
      }
    },
    graphql: async (fixture) => {
      const { projectId, projectName } = fixture.tenant;
      expect(await findProjectId(fixture, projectId)).toBe(projectId);
      expect(await findProjectId(fixture, projectName)).toBe(projectId);
    },
  },
  {
    title: 'The name of a project is unique, and is stored in lower case.',
    rest: async (fixture) => {
      const body = createProjectBody(fixture);
      const name = String(body.name).toUpperCase();
      const response = await fixture.builder.post('/projects', { ...body, name });
      expect(response.name).toBe(name.toLowerCase());
      expect(await fixture.builder.request('POST', '/projects', body)).toMatchObject({
        status: 409,
      });
    },
  },
  {
    title: 'The API cannot set the entitlements of a project.',
    rest: async ({ builder, base, ...fixture }) => {
      const entitlements = { brandingRemoval: { value: true } };
      const body = { ...createProjectBody({ ...fixture, builder, base }), entitlements };
      expect(await builder.request('POST', '/projects', body)).toMatchObject({ status: 400 });
      const change = { updateMask: ['entitlements'], project: { entitlements } };
      expect(await builder.request('PATCH', base, change)).toMatchObject({ status: 400 });
    },
  },
  {
    title: 'The client secret of a provider app is never returned.',
    rest: async ({ resources, get, base }) => {
      expect(JSON.stringify(await resources.providerApp())).not.toContain('planted');
      expect(JSON.stringify(await get(`${base}/provider-apps`))).not.toContain('planted');
    },
    graphql: async ({ resources, tenant }) => {
      await resources.providerApp();
      const query = '{ viewer { project { providerApps { nodes { clientSecret } } } } }';
      expect((await tenant.expectRefusal(query)).code).toBe('GRAPHQL_VALIDATION_FAILED');
    },
  },
  {
    title: 'An update of a provider app writes the fields in `updateMask`, and keeps the others.',
    rest: async ({ resources, patch, base }) => {
      const providerApp = await resources.unusedProviderApp();
      const changed = await patch(`${base}/provider-apps/${providerApp.id}`, {
        updateMask: ['scopes'],
        providerApp: { scopes: ['b'], externalRef: 'ignored' },
      });
      expect(changed).toMatchObject({ externalRef: providerApp.externalRef, scopes: ['b'] });
    },
  },
];

/** The fields of a provider app that a mask may name, each with a new value. */
const NEW_VALUES = {
  externalRef: '45',
  clientId: 'changed',
  clientSecret: 'planted',
  provider: 'salesforce',
  scopes: ['c'],
  metadata: { authQueryParams: { prompt: ['consent'] } },
};

const maskRules = Object.entries(NEW_VALUES).map(
  ([field, value]): Rule => ({
    title: `\`updateMask\` may name \`${field}\`.`,
    rest: async ({ resources, patch, base }) => {
      const { id } = await resources.unusedProviderApp();
      const providerApp = { [field]: value };
      const changed = await patch(`${base}/provider-apps/${id}`, {
        updateMask: [field],
        providerApp,
      });
      if (field !== 'clientSecret') expect(changed).toMatchObject(providerApp);
    },
  }),
);

const DOMAIN_SOURCES: [value: string, part: string, createValue: (name: string) => string][] = [
  ['an email address', 'the part after `@`', (name) => `ann@${name}.example.com`],
  ['a domain name', 'the name itself', (name) => `${name}.example.com`],
  ['a URL', 'its host without `www`', (name) => `https://www.${name}.example.com/path`],
];

const claimRules = DOMAIN_SOURCES.map(
  ([value, part, createValue]): Rule => ({
    title: `The domain of ${value} is ${part}.`,
    rest: async ({ builder, createUniqueName, tenant }) => {
      const name = createUniqueName('extracted');
      const parent = { parentId: tenant.orgId, parentType: 'org' };
      const body = { domain: createValue(name), ...parent };
      const { status, headers } = await builder.request('POST', '/claimed-domains', body);
      expect(status).toBe(201);
      expect(headers.location).toContain(`domain=${name}.example.com`);
    },
  }),
);

const getMetadataPath = ({ base }: Fixture) =>
  `${base}/providers/sandbox/objects/contacts/metadata?groupRef=acme`;

const queryRules: Rule[] = [
  {
    title: 'Object metadata requires `groupRef`, and uses the connection of that group.',
    rest: async (fixture) => {
      const [path = ''] = getMetadataPath(fixture).split('?');
      expect(await fixture.expectRefusal('GET', path)).toMatchObject({
        issues: [{ in: 'query', name: 'groupRef' }],
      });
    },
  },
  {
    title: 'With `excludeReadOnly`, object metadata omits read-only fields.',
    rest: async (fixture) => {
      const { fields } = await fixture.get(getMetadataPath(fixture));
      const names = Object.keys(fields).filter((name) => !fields[name].readOnly);
      const response = await fixture.get(`${getMetadataPath(fixture)}&excludeReadOnly=true`);
      expect(names.length).toBeLessThan(Object.keys(fields).length);
      expect(Object.keys(response.fields).sort()).toEqual(names.sort());
    },
    graphql: async ({ tenant, createMetadataQuery }) => {
      const query = createMetadataQuery('fields { readOnly }', ', excludeReadOnly: true');
      const { fields } = (await tenant.query(query)).objectMetadata;
      expect(new Set(fields.map((field: { readOnly: boolean }) => field.readOnly))).toEqual(
        new Set([false]),
      );
    },
  },
  {
    title: 'Only the metadata of an installation has the mapped name of an object.',
    rest: async (fixture) => {
      expect(await fixture.get(getMetadataPath(fixture))).not.toHaveProperty('mappedObjectName');
      expect(await fixture.resources.objectMetadata()).toMatchObject({
        mappedObjectName: 'people',
      });
    },
  },
  {
    title: '`topicId` and `destinationId` filter the routes of topics to destinations.',
    rest: async ({ resources, get, base, createTopic }) => {
      const route = await resources.topicRoute();
      const path = `${base}/topic-destination-routes`;
      const query = `topicId=${route.topicId}&destinationId=${route.destinationId}`;
      expect(await get(`${path}?${query}`)).toEqual([route]);
      expect(await get(`${path}?topicId=${await createTopic()}`)).toEqual([]);
    },
  },
];

export const conventionSections: Section[] = [
  { title: 'Conventions', rules: conventionRules },
  { title: 'Masks, claims and queries', rules: [...maskRules, ...claimRules, ...queryRules] },
];
