/** Lists of end users, and deletion of their connections and installations. */
import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../../../support/fixtures/integrations.ts';

const app = await getSharedApp();
const { prisma } = app.app.services.database;
const DELETE_CONNECTION = `mutation DeleteConnection($input: DeleteConnectionInput!) {
  deleteConnection(input: $input) { deletedId }
}`;
const DELETE_INSTALLATION = `mutation DeleteInstallation($input: DeleteInstallationInput!) {
  deleteInstallation(input: $input) { deletedId }
}`;
const SEARCH_LISTS = `query SearchLists($project: String!, $search: String!, $first: Int, $after: String) { project(idOrName: $project) {
  connections(search: $search, first: $first, after: $after) {
    totalCount edges { cursor node { consumer { consumerRef } } } pageInfo { hasNextPage endCursor }
  }
  integrations(search: $search) { totalCount nodes { name } }
} }`;

async function search(user: Pick<Tenant, 'query' | 'projectId'>, text: string, page: object = {}) {
  const { project } = await user.query(SEARCH_LISTS, {
    project: user.projectId,
    search: text,
    ...page,
  });
  return project;
}

interface Edge {
  node: { consumer: { consumerRef: string } };
}
const listConsumerRefs = (connections: { edges: Edge[] }) =>
  connections.edges.map(({ node }) => node.consumer.consumerRef);

test("finds and counts only objects of the end user's group", async () => {
  const tenant = await app.createTenant();
  for (const groupRef of ['acme', 'rival']) {
    for (const name of ['Ann Apple', 'Ann Berry', 'bob apple']) {
      const consumerRef = `${groupRef}-${name.replace(' ', '-').toLowerCase()}`;
      await generateConnection(tenant, {
        groupRef,
        consumerRef,
        consumerName: name,
        apiKey: 'sandbox-key',
      });
    }
  }
  await createIntegration(app, tenant, createIntegrationContent('apple-sync'));
  await createIntegration(app, tenant, createIntegrationContent('apple-other'));
  const user = await createEndUser(app, tenant, {
    groupRef: 'acme',
    consumerRef: 'acme-ann-apple',
    integrations: ['apple-sync'],
  });
  const { connections, integrations } = await search(user, 'APP');
  expect(connections).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: false } });
  expect(listConsumerRefs(connections)).toEqual(['acme-ann-apple', 'acme-bob-apple']);
  expect(integrations).toEqual({ totalCount: 1, nodes: [{ name: 'apple-sync' }] });
  expect((await search(user, 'rival')).connections).toMatchObject({ totalCount: 0, edges: [] });
  // Paging returns the same order as for an API key.
  const expectedRefs = listConsumerRefs((await search(tenant, 'acme')).connections);
  const firstPage = (await search(user, 'acme', { first: 2 })).connections;
  expect(firstPage.pageInfo.hasNextPage).toBe(true);
  const after = firstPage.pageInfo.endCursor;
  const lastPage = (await search(user, 'acme', { first: 2, after })).connections;
  expect([...listConsumerRefs(firstPage), ...listConsumerRefs(lastPage)]).toEqual(expectedRefs);
  expect(expectedRefs).toHaveLength(3);
});

async function installForConsumer() {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const installed = await connectAndInstall(tenant, await createIntegration(app, tenant), {});
  const { id: connectionId, consumer } = installed.connection;
  const parties = { groupRef: 'acme', consumerRef: consumer.consumerRef };
  const deleteConnectionInput = { input: { projectIdOrName: projectId, connectionId } };
  const deleteInstallationInput = {
    input: { projectIdOrName: projectId, installationId: installed.id },
  };
  return {
    tenant,
    parties,
    connectionId,
    installed,
    deleteConnectionInput,
    deleteInstallationInput,
  };
}

test("deletes the end user's own connection once no installation uses it", async () => {
  const {
    tenant,
    parties,
    connectionId,
    installed,
    deleteConnectionInput,
    deleteInstallationInput,
  } = await installForConsumer();
  const user = await createEndUser(app, tenant, parties);
  expect(await user.expectRefusal(DELETE_CONNECTION, deleteConnectionInput)).toMatchObject({
    code: 'CONFLICT',
  });
  expect(
    (await user.query(DELETE_INSTALLATION, deleteInstallationInput)).deleteInstallation,
  ).toEqual({
    deletedId: installed.id,
  });
  expect((await user.query(DELETE_CONNECTION, deleteConnectionInput)).deleteConnection).toEqual({
    deletedId: connectionId,
  });
  expect(await prisma.connection.count({ where: { id: connectionId } })).toBe(0);
});

test("refuses deletions of other users' objects, and deletions without the permission", async () => {
  const {
    tenant,
    parties,
    connectionId,
    installed,
    deleteConnectionInput,
    deleteInstallationInput,
  } = await installForConsumer();
  const refusals = [
    [{ ...parties, permissions: ['READ'] }, 'FORBIDDEN', 'FORBIDDEN'],
    [{ ...parties, consumerRef: 'carol', permissions: ['CONNECT'] }, 'FORBIDDEN', 'FORBIDDEN'],
    [{ ...parties, groupRef: 'rival' }, 'NOT_FOUND', 'NOT_FOUND'],
    [{ ...parties, integrations: [] }, 'CONFLICT', 'NOT_FOUND'],
  ] as const;
  for (const [claims, connectionCode, installationCode] of refusals) {
    const user = await createEndUser(app, tenant, claims);
    expect(await user.expectRefusal(DELETE_INSTALLATION, deleteInstallationInput)).toMatchObject({
      code: installationCode,
    });
    expect(await user.expectRefusal(DELETE_CONNECTION, deleteConnectionInput)).toMatchObject({
      code: connectionCode,
    });
  }
  expect(await prisma.connection.count({ where: { id: connectionId } })).toBe(1);
  expect(await prisma.installation.count({ where: { id: installed.id } })).toBe(1);
});
