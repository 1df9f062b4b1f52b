/** End users of a tenant's project, each with a token of the gateway. */
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
