/** Resources that a rule may change or delete, and the bodies that create them. */
import { PROVIDER_APP } from './accounts.ts';
import type { Json } from './body.ts';
import type { Scene } from './scene.ts';

type Make<T> = (scene: Scene) => Promise<T>;

/** Belongs to a provider without connections. */
export const APP_BODY = { ...PROVIDER_APP, provider: 'salesforce' };

export const connectionBody = ({ uniqueName }: Scene): Json => ({
  groupRef: uniqueName('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  apiKey: 'sandbox-key',
});

export const createProjectBody = ({ tenant, uniqueName }: Scene): Json => ({
  appName: 'App',
  name: `${tenant.projectName}-${uniqueName('project')}`,
  orgId: tenant.orgId,
});

export const domainClaimBody = ({ tenant, uniqueName }: Scene): Json => ({
  domain: `${uniqueName('claim')}.example.com`,
  parentId: tenant.orgId,
  parentType: 'org',
});

export const inviteBody = ({ uniqueName }: Scene): Json => ({
  email: `${uniqueName('guest')}@example.com`,
});

export const topicRouteBody: Make<Json> = async ({ createTopic, resources }) => ({
  topicId: await createTopic(),
  destinationId: (await resources.destination()).id,
});

export const eventRouteBody: Make<Json> = async ({ createTopic }) => ({
  topicId: await createTopic(),
  eventType: 'connection.error',
});

export const freshKey = async ({ post, base }: Scene) => ({
  apiKey: (await post(`${base}/api-keys`, { label: 'short' })).id as string,
});

export const freshApp = async ({ post, base }: Scene) => ({
  providerAppId: (await post(`${base}/provider-apps`, APP_BODY, 200)).id as string,
});

export const freshInvite = async (scene: Scene) => {
  const { id } = await scene.post(`/orgs/${scene.tenant.orgId}/invites`, inviteBody(scene));
  return { inviteId: id as string };
};

export const freshTopicRoute = async (scene: Scene) => {
  const path = `${scene.base}/topic-destination-routes`;
  return { routeId: (await scene.post(path, await topicRouteBody(scene))).id as string };
};

export const freshEventRoute = async (scene: Scene) => {
  const path = `${scene.base}/notification-event-topic-routes`;
  return { routeId: (await scene.post(path, await eventRouteBody(scene))).id as string };
};
