import type { App } from '../../../src/app.ts';
import type { Database } from '../../../src/database/database.ts';
import { LOCAL_ISSUER } from '../../../src/domain/viewer/bearer.ts';
import { hashOfKey, newKeyValue, shownPrefix } from '../../../src/domain/viewer/key/key-value.ts';
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

type NewRow = [table: string, row: Record<string, unknown>];

/** All at once: most tests begin with these. A cluster takes them one by one. */
async function insertAll({ rows, isDistributed }: Database, given: readonly NewRow[]) {
  const together = isDistributed ? given.map((one) => [one]) : [given];
  for (const some of together) {
    const values: unknown[] = [];
    const inserts = some.map(([table, row]) => {
      const places = Object.values(row).map((value) => `$${values.push(value)}`);
      const names = Object.keys(row).map((name) => `"${name}"`);
      return `insert into "${table}" (${names.join(', ')}) values (${places.join(', ')})`;
    });
    const members = inserts.slice(0, -1).map((insert, at) => `row${at} as (${insert})`);
    const text = `${members.length > 0 ? `with ${members.join(', ')}` : ''} ${inserts.at(-1)}`;
    await rows.query(text.trim(), values);
  }
}

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
  const { value: keyValue, ...key } = newKey();
  const { database } = app.services;
  const account = { displayName: unique, billingProvider: 'none', billingProviderRef: unique };
  // The builder's is as the first token leaves it.
  const ofBuilder = { idpProvider: LOCAL_ISSUER, idpRef: unique, fullName, primaryEmail: email };
  await insertAll(database, [
    ['Builder', { id: builderId, ...ofBuilder }],
    ['Org', { id: orgId, label: unique }],
    ['OrgMember', { orgId, builderId }],
    ['BillingAccount', { id: newId('bil'), orgId, ...account }],
    ['Project', { id: projectId, orgId, name: unique, appName: unique }],
    ['EventLog', { projectId }],
    ['ApiKey', { ...key, projectId, label: 'test', scopes: ALL_SCOPES }],
  ]);

  const keyOf = async (...scopes: Scope[]) => {
    const { value, ...stored } = newKey();
    await database.prisma.apiKey.create({ data: { projectId, label: 'test', scopes, ...stored } });
    return value;
  };
  return {
    ...client({ 'x-api-key': keyValue }),
    orgId,
    projectId,
    token,
    builder,
    builderId,
    builderEmail: email,
    projectName: unique,
    apiKey: keyValue,
    apiKeyId: key.id,
    keyOf,
    withScopes: async (...scopes) => client({ 'x-api-key': await keyOf(...scopes) }),
  };
}
