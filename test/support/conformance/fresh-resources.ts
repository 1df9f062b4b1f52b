/** Resources that a rule may change or delete, and the bodies that create them. */
import { PROVIDER_APP } from './accounts.ts';
import type { Json } from './body.ts';
import type { Fixture } from './fixture.ts';

type Create<T> = (fixture: Fixture) => Promise<T>;

/** Belongs to a provider without connections. */
export const PROVIDER_APP_BODY = { ...PROVIDER_APP, provider: 'salesforce' };

export const createConnectionBody = ({ createUniqueName }: Fixture): Json => ({
  groupRef: createUniqueName('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  apiKey: 'sandbox-key',
});

export const createProjectBody = ({ tenant, createUniqueName }: Fixture): Json => ({
  appName: 'App',
  name: `${tenant.projectName}-${createUniqueName('project')}`,
  orgId: tenant.orgId,
});

export const createDomainClaimBody = ({ tenant, createUniqueName }: Fixture): Json => ({
  domain: `${createUniqueName('claim')}.example.com`,
  parentId: tenant.orgId,
  parentType: 'org',
});

export const createInviteBody = ({ createUniqueName }: Fixture): Json => ({
  email: `${createUniqueName('guest')}@example.com`,
});

export const createTopicRouteBody: Create<Json> = async ({ createTopic, resources }) => ({
  topicId: await createTopic(),
  destinationId: (await resources.destination()).id,
});

export const createEventRouteBody: Create<Json> = async ({ createTopic }) => ({
  topicId: await createTopic(),
  eventType: 'connection.error',
});

export const createApiKey = async ({ post, base }: Fixture) => ({
  apiKey: (await post(`${base}/api-keys`, { label: 'short' })).id as string,
});

export const createUnusedProviderApp = async ({ post, base }: Fixture) => ({
  providerAppId: (await post(`${base}/provider-apps`, PROVIDER_APP_BODY, 200)).id as string,
});

export const createInvite = async (fixture: Fixture) => {
  const { id } = await fixture.post(
    `/orgs/${fixture.tenant.orgId}/invites`,
    createInviteBody(fixture),
  );
  return { inviteId: id as string };
};

export const createTopicRoute = async (fixture: Fixture) => {
  const path = `${fixture.base}/topic-destination-routes`;
  return { routeId: (await fixture.post(path, await createTopicRouteBody(fixture))).id as string };
};

export const createEventRoute = async (fixture: Fixture) => {
  const path = `${fixture.base}/notification-event-topic-routes`;
  return { routeId: (await fixture.post(path, await createEventRouteBody(fixture))).id as string };
};
