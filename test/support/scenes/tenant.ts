import type { App } from '../../../src/app.ts';
import { hashOfKey, newKeyValue, shownPrefix } from '../../../src/domain/viewer/key-value.ts';
import { ALL_SCOPES, type Scope } from '../../../src/domain/viewer/scopes.ts';
import { newId } from '../../../src/ids.ts';
import type { GraphqlClient } from '../graphql-client.ts';

/** An org with a builder, a project and an API key, and ways to ask as each. */
export interface Tenant extends GraphqlClient {
  orgId: string;
  builderId: string;
  builderEmail: string;
  projectId: string;
  projectName: string;
  apiKey: string;
  apiKeyId: string;
  token: string;
  /** As the builder, with a bearer token. */
  builder: GraphqlClient;
  /** The value of another API key, with just these scopes. */
  keyOf(...scopes: Scope[]): Promise<string>;
  /** As another API key with just these scopes. */
  withScopes(...scopes: Scope[]): Promise<GraphqlClient>;
}

interface Host {
  app: App;
  client(headers: Record<string, string>): GraphqlClient;
}

let made = 0;

export async function createTenant({ app, client }: Host, name = 'tenant'): Promise<Tenant> {
  made += 1;
  const { prisma } = app.services.database;
  const unique = `${name}-${made}-${crypto.randomUUID().slice(0, 8)}`;
  const email = `${unique}@builders.test`;
  const token = await app.verifier.mint?.({ sub: unique, email, name: `Builder of ${unique}` });
  if (!token) throw new Error('Tests need the local issuer.');
  const builder = client({ authorization: `Bearer ${token}` });
  const { viewer } = await builder.query('{ viewer { builder { id } } }');

  const orgId = newId('org');
  const projectId = newId('prj');
  await prisma.org.create({
    data: {
      id: orgId,
      label: unique,
      members: { create: { builderId: viewer.builder.id } },
      billingAccount: {
        create: {
          id: newId('bil'),
          displayName: unique,
          billingProvider: 'none',
          billingProviderRef: unique,
        },
      },
    },
  });
  await prisma.project.create({
    data: { id: projectId, orgId, name: unique, appName: unique, eventLog: { create: {} } },
  });
  app.services.viewers.clear();

  const keyWith = async (scopes: readonly Scope[]) => {
    const value = newKeyValue();
    const id = newId('key');
    const stored = { hash: hashOfKey(value), prefix: shownPrefix(value) };
    await prisma.apiKey.create({
      data: { id, projectId, label: 'test', scopes: [...scopes], ...stored },
    });
    return { id, value };
  };
  const key = await keyWith(ALL_SCOPES);
  const keyOf = async (...scopes: Scope[]) => (await keyWith(scopes)).value;
  return {
    ...client({ 'x-api-key': key.value }),
    orgId,
    projectId,
    token,
    builder,
    builderId: viewer.builder.id,
    builderEmail: email,
    projectName: unique,
    apiKey: key.value,
    apiKeyId: key.id,
    keyOf,
    withScopes: async (...scopes) => client({ 'x-api-key': await keyOf(...scopes) }),
  };
}
