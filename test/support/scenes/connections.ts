import { EVENTS } from '../../../src/events/event-types.ts';
import { newId } from '../../../src/ids.ts';
import { CATALOGUE } from '../../../src/providers/catalogue/all-entries.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { hubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { salesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { sandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { inGroups } from '../inputs/graphql-input.ts';

/** The providers that the product serves. No test calls them. */
export const PROVIDERS: Provider[] = [
  sandboxProvider(() => 'http://sandbox.test'),
  hubspotProvider(),
  salesforceProvider(),
  ...CATALOGUE,
];

export const GENERATE = `mutation ($input: GenerateConnectionInput!) {
  generateConnection(input: $input) {
    connection {
      id provider authScheme status providerWorkspaceRef providerConsumerRef providerMetadata
      createTime updateTime
      project { id }
      group { id groupRef groupName updateTime }
      consumer { id consumerRef consumerName updateTime }
      providerApp { id }
    }
  }
}`;

export const CREDENTIALS = `query ($id: ID!) {
  node(id: $id) {
    ... on ConnectedAccount {
      credentials {
        apiKey
        oauth2AuthorizationCode {
          accessToken { token issueTime expireTime }
          refreshToken { token issueTime expireTime }
          scopes
        }
      }
    }
  }
}`;

/** Returns the variables of `generateConnection`. Default: a connection to the sandbox with an API key. */
export function connectionVariables(
  tenant: Pick<Tenant, 'projectId'>,
  members: object = { apiKey: 'sandbox-key' },
) {
  const refs = { groupRef: 'acme', consumerRef: 'ann', provider: 'sandbox' };
  return { input: inGroups({ projectIdOrName: tenant.projectId, ...refs, ...members }) };
}

export async function generateConnection(
  tenant: Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>,
  members?: object,
) {
  return (await tenant.query(GENERATE, connectionVariables(tenant, members))).generateConnection
    .connection;
}

/**
 * Routes every type of event to a topic, so that the project keeps all events. Returns a function that lists
 * them.
 */
export async function keepEvents({ app }: Pick<TestApp, 'app'>, { projectId }: Tenant) {
  const { prisma } = app.services.database;
  const topicId = newId('top');
  await prisma.topic.create({ data: { id: topicId, projectId, name: 'everything' } });
  await prisma.eventTopicRoute.createMany({
    data: Object.keys(EVENTS).map((eventType) => ({
      id: newId('etr'),
      projectId,
      topicId,
      eventType: eventType as keyof typeof EVENTS,
    })),
  });
  return async () => {
    const events = await prisma.notificationEvent.findMany({
      where: { projectId },
      orderBy: { position: 'asc' },
    });
    return events.map(({ eventType, connectionId, data }) => ({ eventType, connectionId, data }));
  };
}

/** Inserts an integration and an installation that uses the connection. */
export async function insertInstallation(
  { app }: Pick<TestApp, 'app'>,
  connection: { id: string; provider: string; group: { id: string } },
  { projectId }: Tenant,
) {
  const { prisma } = app.services.database;
  const [integrationId, revisionId] = [newId('int'), newId('rev')];
  const { provider } = connection;
  await prisma.integration.create({
    data: { id: integrationId, projectId, name: 'crm', provider, latestRevisionId: revisionId },
  });
  await prisma.installation.create({
    data: {
      id: newId('ins'),
      projectId,
      integrationId,
      groupId: connection.group.id,
      connectionId: connection.id,
      configId: newId('cfg'),
      createdBy: 'test',
    },
  });
}
