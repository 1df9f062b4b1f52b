/**
 * Creates end users of a tenant's project, with session tokens or with tokens that a builder's server signs.
 */
import { generateKeyPairSync } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import type { Tenant, TestApp } from '../app.ts';
import type { GraphqlClient } from '../graphql-client.ts';

export const CREATE_SESSION_TOKEN = `mutation ($input: CreateSessionTokenInput!) {
  createSessionToken(input: $input) { token expireTime connectUrl }
}`;

export interface EndUser extends GraphqlClient {
  projectId: string;
  token: string;
  headers: { authorization: string };
}

/** Creates a session token. Default: for the group `acme` and the consumer `ann`. */
export async function createSessionToken(
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
  members: object = {},
): Promise<{ token: string; expireTime: string; connectUrl: string }> {
  const input = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const data = await tenant.query(CREATE_SESSION_TOKEN, { input: { ...input, ...members } });
  return data.createSessionToken;
}

export async function createEndUser(
  app: TestApp,
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
  members: object = {},
): Promise<EndUser> {
  const { token } = await createSessionToken(tenant, members);
  return { ...createBearerClient(app, token), projectId: tenant.projectId };
}

export function createBearerClient(app: TestApp, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return { ...app.client(headers), token, headers };
}

const CREATE_JWT_KEY = `mutation ($input: CreateJwtKeyInput!) {
  createJwtKey(input: $input) { jwtKey { id } }
}`;

export function createJwtKeyPair(modulusLength = 2_048) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return {
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

export interface JwtOptions {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
}

/** Simulates a builder's server: it registers a public key, and signs tokens with any claims. */
export async function createJwtIssuer(
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
) {
  const { publicKeyPem, privateKeyPem } = createJwtKeyPair();
  const input = { projectIdOrName: tenant.projectId, label: 'server', publicKeyPem };
  const { id } = (await tenant.query(CREATE_JWT_KEY, { input })).createJwtKey.jwtKey;
  const key = await importPKCS8(privateKeyPem, 'RS256');
  return {
    id: id as string,
    publicKeyPem,
    sign({ claims = {}, header = {} }: JwtOptions = {}, now = new Date()): Promise<string> {
      const iat = Math.floor(now.getTime() / 1_000);
      const defaultClaims = { groupRef: 'acme', consumerRef: 'ann', iat, exp: iat + 600 };
      return new SignJWT({ ...defaultClaims, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: id, ...header })
        .sign(key);
    },
  };
}
