import type { App } from '../../../src/app.ts';
import type { Database } from '../../../src/database/database.ts';
import { LOCAL_ISSUER } from '../../../src/domain/viewer/bearer.ts';
import { createKeyValue, getKeyPrefix, hashKey } from '../../../src/domain/viewer/key/key-value.ts';
import { ALL_SCOPES, type Scope } from '../../../src/domain/viewer/scopes.ts';
import { newId } from '../../../src/ids.ts';
import type { GraphqlClient } from '../graphql-client.ts';

/** An org with a builder, a project and an API key, with a client for each caller. */
export interface Tenant extends GraphqlClient {
  orgId: string;
  builderId: string;
  builderEmail: string;
  projectId: string;
  projectName: string;
  apiKey: string;
  apiKeyId: string;
  token: string;
  /** A client of the builder, with a bearer token. */
  builder: GraphqlClient;
  /** Creates another API key with exactly these scopes, and returns its value. */
  createKey(...scopes: Scope[]): Promise<string>;
  /** Returns a client of a new API key with exactly these scopes. */
  withScopes(...scopes: Scope[]): Promise<GraphqlClient>;
}

interface Host {
  app: App;
  client(headers: Record<string, string>): GraphqlClient;
}

let tenantCount = 0;

type NewRow = [table: string, row: Record<string, unknown>];

/**
 * Inserts all rows with one statement, because most tests start with it. A cluster needs one statement for
 * each row.
 */
async function insertAll({ rows, isDistributed }: Database, newRows: readonly NewRow[]) {
  const batches = isDistributed ? newRows.map((newRow) => [newRow]) : [newRows];
  for (const batch of batches) {
    const values: unknown[] = [];
    const inserts = batch.map(([table, row]) => {
      const parameters = Object.values(row).map((value) => `$${values.push(value)}`);
      const names = Object.keys(row).map((name) => `"${name}"`);
      return `insert into "${table}" (${names.join(', ')}) values (${parameters.join(', ')})`;
    });
    const members = inserts.slice(0, -1).map((insert, index) => `row${index} as (${insert})`);
    const text = `${members.length > 0 ? `with ${members.join(', ')}` : ''} ${inserts.at(-1)}`;
    await rows.query(text.trim(), values);
  }
}

function generateKey() {
  const value = createKeyValue();
  return { id: newId('key'), value, hash: hashKey(value), prefix: getKeyPrefix(value) };
}

export async function createTenant({ app, client }: Host, name = 'tenant'): Promise<Tenant> {
  tenantCount += 1;
  const unique = `${name}-${tenantCount}-${crypto.randomUUID().slice(0, 8)}`;
  const email = `${unique}@builders.test`;
  const fullName = `Builder of ${unique}`;
  const token = await app.verifier.mint?.({ sub: unique, email, name: fullName });
  if (!token) throw new Error('Tests need the local issuer.');
  const builder = client({ authorization: `Bearer ${token}` });
  const [builderId, orgId, projectId] = [newId('bld'), newId('org'), newId('prj')];
  const { value: keyValue, ...key } = generateKey();
  const { database } = app.services;
  const account = { displayName: unique, billingProvider: 'none', billingProviderRef: unique };
  // The builder's row as the first request with the token would create it.
  const builderColumns = {
    idpProvider: LOCAL_ISSUER,
    idpRef: unique,
    fullName,
    primaryEmail: email,
  };
  await insertAll(database, [
    ['Builder', { id: builderId, ...builderColumns }],
    ['Org', { id: orgId, label: unique }],
    ['OrgMember', { orgId, builderId }],
    ['BillingAccount', { id: newId('bil'), orgId, ...account }],
    ['Project', { id: projectId, orgId, name: unique, appName: unique }],
    ['EventLog', { projectId }],
    ['ApiKey', { ...key, projectId, label: 'test', scopes: ALL_SCOPES }],
  ]);

  const addKey = async (...scopes: Scope[]) => {
    const { value, ...stored } = generateKey();
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
    createKey: addKey,
    withScopes: async (...scopes) => client({ 'x-api-key': await addKey(...scopes) }),
  };
}
