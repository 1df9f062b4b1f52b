/** Resources that a rule may change or delete, and the bodies that create them. */
import { PROVIDER_APP } from './accounts.ts';
import type { Json } from './body.ts';
import type { Fixture } from './fixture.ts';

type Create<T> = (fixture: Fixture) => Promise<T>;

/** Belongs to a provider without connections. */
export const APP_BODY = { ...PROVIDER_APP, provider: 'salesforce' };

export const connectionBody = ({ uniqueName }: Fixture): Json => ({
  groupRef: uniqueName('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  apiKey: 'sandbox-key',
});

export const createProjectBody = ({ tenant, uniqueName }: Fixture): Json => ({
  appName: 'App',
  name: `${tenant.projectName}-${uniqueName('project')}`,
  orgId: tenant.orgId,
});

export const domainClaimBody = ({ tenant, uniqueName }: Fixture): Json => ({
  domain: `${uniqueName('claim')}.example.com`,
  parentId: tenant.orgId,
  parentType: 'org',
});

export const inviteBody = ({ uniqueName }: Fixture): Json => ({
  email: `${uniqueName('guest')}@example.com`,
});

export const topicRouteBody: Create<Json> = async ({ createTopic, resources }) => ({
  topicId: await createTopic(),
  destinationId: (await resources.destination()).id,
});

export const eventRouteBody: Create<Json> = async ({ createTopic }) => ({
  topicId: await createTopic(),
  eventType: 'connection.error',
});

export const createKey = async ({ post, base }: Fixture) => ({
  apiKey: (await post(`${base}/api-keys`, { label: 'short' })).id as string,
});

export const createApp = async ({ post, base }: Fixture) => ({
  providerAppId: (await post(`${base}/provider-apps`, APP_BODY, 200)).id as string,
});

export const createInvite = async (fixture: Fixture) => {
  const { id } = await fixture.post(`/orgs/${fixture.tenant.orgId}/invites`, inviteBody(fixture));
  return { inviteId: id as string };
};

export const createTopicRoute = async (fixture: Fixture) => {
  const path = `${fixture.base}/topic-destination-routes`;
  return { routeId: (await fixture.post(path, await topicRouteBody(fixture))).id as string };
};

export const createEventRoute = async (fixture: Fixture) => {
  const path = `${fixture.base}/notification-event-topic-routes`;
  return { routeId: (await fixture.post(path, await eventRouteBody(fixture))).id as string };
};
