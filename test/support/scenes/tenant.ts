import type { App } from '../../../src/app.ts';
import { LOCAL_ISSUER } from '../../../src/domain/viewer/bearer.ts';
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

/** All rows of a tenant at once: most tests begin with one. The builder's is as the first token leaves it. */
const TENANT = `with
  builder as (insert into "Builder" ("id", "idpProvider", "idpRef", "fullName", "primaryEmail") values ($2, $3, $1, $4, $5)),
  org as (insert into "Org" ("id", "label") values ($6, $1)),
  member as (insert into "OrgMember" ("orgId", "builderId") values ($6, $2)),
  account as (insert into "BillingAccount" ("id", "orgId", "displayName", "billingProvider", "billingProviderRef")
    values ($7, $6, $1, 'none', $1)),
  project as (insert into "Project" ("id", "orgId", "name", "appName") values ($8, $6, $1, $1)),
  log as (insert into "EventLog" ("projectId") values ($8))
  insert into "ApiKey" ("id", "projectId", "label", "scopes", "hash", "prefix") values ($9, $8, 'test', $10, $11, $12)`;

function newKey() {
  const value = newKeyValue();
  return { id: newId('key'), value, hash: hashOfKey(value), prefix: shownPrefix(value) };
}

export async function createTenant({ app, client }: Host, name = 'tenant'): Promise<Tenant> {
  made += 1;
  const unique = `${name}-${made}-${crypto.randomUUID().slice(0, 8)}`;
  const email = `${unique}@builders.test`;
  const fullName = `Builder of ${unique}`;
  const token = await app.verifier.mint?.({ sub: unique, email, name: fullName });
  if (!token) throw new Error('Tests need the local issuer.');
  const builder = client({ authorization: `Bearer ${token}` });
  const [builderId, orgId, projectId] = [newId('bld'), newId('org'), newId('prj')];
  const key = newKey();
  const { prisma, rows } = app.services.database;
  await rows.query(TENANT, [
    ...[unique, builderId, LOCAL_ISSUER, fullName, email],
    ...[orgId, newId('bil'), projectId, key.id, ALL_SCOPES, key.hash, key.prefix],
  ]);

  const keyOf = async (...scopes: Scope[]) => {
    const { value, ...stored } = newKey();
    await prisma.apiKey.create({ data: { projectId, label: 'test', scopes, ...stored } });
    return value;
  };
  return {
    ...client({ 'x-api-key': key.value }),
    orgId,
    projectId,
    token,
    builder,
    builderId,
    builderEmail: email,
    projectName: unique,
    apiKey: key.value,
    apiKeyId: key.id,
    keyOf,
    withScopes: async (...scopes) => client({ 'x-api-key': await keyOf(...scopes) }),
  };
}
