/** Tests the audience of builders' tokens at the MCP server (RFC 8707). */
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, expect, test } from 'vitest';
import { createTestApp, getSharedApp, type TestApp } from '../../support/app.ts';
import { requestMcp } from '../../support/mcp/mcp-client.ts';
import { serve } from '../../support/wire/serve.ts';

const ISSUER = 'https://login.example';
const { privateKey, publicKey } = await generateKeyPair('ES256');
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
const keys = await serve((_req, res) => res.end(jwks));
afterAll(() => keys.stop());

const env = { BEARER_ISSUER: ISSUER, BEARER_JWKS_URL: keys.url };
const app = await getSharedApp({ env: { ...env, PUBLIC_URL: 'https://gateway.example' } });

const createHeaders = async (audience: string | string[]) => {
  const token = await new SignJWT({ sub: 'ada', email: 'ada@example.com', email_verified: true })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setExpirationTime('5m')
    .sign(privateKey);
  return { authorization: `Bearer ${token}` };
};

const CREATE_ORG = 'mutation { createOrg(input: { label: "Audience" }) { org { id } } }';
const CREATE_PROJECT = `mutation CreateProject($input: CreateProjectInput!) {
  createProject(input: $input) { project { id name } }
}`;

async function postGraphql(headers: Record<string, string>, query: string, variables = {}) {
  return app.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
}

async function createProject(name: string): Promise<{ id: string; name: string }> {
  const headers = await createHeaders('integration-gateway');
  const { data } = await (await postGraphql(headers, CREATE_ORG)).json();
  const input = { name, appName: name, orgId: data.createOrg.org.id };
  const created = await (await postGraphql(headers, CREATE_PROJECT, { input })).json();
  return created.data.createProject.project;
}

async function readResource(server: TestApp, projectId: string): Promise<string> {
  const path = `/.well-known/oauth-protected-resource/mcp/projects/${projectId}`;
  return (await (await server.fetch(path)).json()).resource;
}

test('accepts tokens for the resource that the metadata names, and only there', async () => {
  const project = await createProject('audience-of-resource');
  const other = await createProject('audience-of-other');
  const resource = await readResource(app, project.id);
  expect(resource).toBe(`https://gateway.example/mcp/projects/${project.id}`);
  for (const audience of [resource, [resource, 'https://other.example']]) {
    const headers = await createHeaders(audience);
    const send = (projectId: string) => requestMcp(app, { projectId, headers }, 'tools/list');
    expect(await send(project.id)).toMatchObject({ status: 200 });
    // The token was accepted above, and must not be cached for other resources.
    expect(await send(other.id)).toMatchObject({ status: 401 });
    expect((await postGraphql(headers, '{ viewer { kind } }')).status).toBe(401);
    const rest = await app.fetch(`/v1/projects/${project.id}`, { headers });
    expect(rest.status).toBe(401);
    expect(await send(project.id)).toMatchObject({ status: 200 });
  }
  const general = { projectId: project.id, headers: await createHeaders('integration-gateway') };
  expect(await requestMcp(app, general, 'tools/list')).toMatchObject({ status: 200 });
});

test('rejects tokens for another resource', async () => {
  const { id: projectId, name } = await createProject('audience-of-another');
  for (const audience of [
    'https://gateway.example',
    `https://other.example/mcp/projects/${projectId}`,
    `https://gateway.example/mcp/projects/${name}`,
  ]) {
    const headers = await createHeaders(audience);
    expect(await requestMcp(app, { projectId, headers }, 'tools/list')).toMatchObject({
      status: 401,
    });
  }
});

test('rejects tokens for a resource whose host comes from the request', async () => {
  await using unknownApp = await createTestApp({ env: { ...env, HOST: '0.0.0.0' } });
  const projectId = 'any';
  const headers = await createHeaders(await readResource(unknownApp, projectId));
  const { status } = await requestMcp(unknownApp, { projectId, headers }, 'tools/list');
  expect(status).toBe(401);
});
