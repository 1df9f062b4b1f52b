/** End users of a tenant's project, each with a token of the gateway. */
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

/** Of the group acme and the consumer ann, unless given otherwise. */
export async function sessionToken(
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
  given: object = {},
): Promise<{ token: string; expireTime: string; connectUrl: string }> {
  const input = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const made = await tenant.query(CREATE_SESSION_TOKEN, { input: { ...input, ...given } });
  return made.createSessionToken;
}

export async function endUser(
  app: TestApp,
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
  given: object = {},
): Promise<EndUser> {
  const { token } = await sessionToken(tenant, given);
  return { ...asBearer(app, token), projectId: tenant.projectId };
}

export function asBearer(app: TestApp, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return { ...app.client(headers), token, headers };
}

const CREATE_JWT_KEY = `mutation ($input: CreateJwtKeyInput!) {
  createJwtKey(input: $input) { jwtKey { id } }
}`;

export function jwtKeyPair(modulusLength = 2_048) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return {
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

export interface Signing {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
}

/** The builder's own server: it has registered a key, and signs tokens as it likes. */
export async function jwtIssuer(tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>) {
  const { publicKeyPem, privateKeyPem } = jwtKeyPair();
  const input = { projectIdOrName: tenant.projectId, label: 'server', publicKeyPem };
  const { id } = (await tenant.query(CREATE_JWT_KEY, { input })).createJwtKey.jwtKey;
  const key = await importPKCS8(privateKeyPem, 'RS256');
  return {
    id: id as string,
    publicKeyPem,
    sign({ claims = {}, header = {} }: Signing = {}, now = new Date()): Promise<string> {
      const iat = Math.floor(now.getTime() / 1_000);
      const usual = { groupRef: 'acme', consumerRef: 'ann', iat, exp: iat + 600 };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: id, ...header })
        .sign(key);
    },
  };
}
