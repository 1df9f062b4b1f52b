/** Things that a rule may change or delete, and the bodies that make them. */
import { PROVIDER_APP } from './accounts.ts';
import type { Json } from './body.ts';
import type { Scene } from './scene.ts';

type Make<T> = (scene: Scene) => Promise<T>;

/** Of a provider that nothing connects to. */
export const APP_BODY = { ...PROVIDER_APP, provider: 'salesforce' };

export const connecting = ({ fresh }: Scene): Json => ({
  groupRef: fresh('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  apiKey: 'sandbox-key',
});

export const newProject = ({ tenant, fresh }: Scene): Json => ({
  appName: 'App',
  name: `${tenant.projectName}-${fresh('project')}`,
  orgId: tenant.orgId,
});

export const claim = ({ tenant, fresh }: Scene): Json => ({
  domain: `${fresh('claim')}.example.com`,
  parentId: tenant.orgId,
  parentType: 'org',
});

export const newInvite = ({ fresh }: Scene): Json => ({ email: `${fresh('guest')}@example.com` });

export const topicRoute: Make<Json> = async ({ freshTopic, made }) => ({
  topicId: await freshTopic(),
  destinationId: (await made.destination()).id,
});

export const eventRoute: Make<Json> = async ({ freshTopic }) => ({
  topicId: await freshTopic(),
  eventType: 'connection.error',
});

export const freshKey = async ({ post, base }: Scene) => ({
  apiKey: (await post(`${base}/api-keys`, { label: 'short' })).id as string,
});

export const freshApp = async ({ post, base }: Scene) => ({
  providerAppId: (await post(`${base}/provider-apps`, APP_BODY, 200)).id as string,
});

export const freshInvite = async (scene: Scene) => {
  const { id } = await scene.post(`/orgs/${scene.tenant.orgId}/invites`, newInvite(scene));
  return { inviteId: id as string };
};

export const freshTopicRoute = async (scene: Scene) => {
  const path = `${scene.base}/topic-destination-routes`;
  return { routeId: (await scene.post(path, await topicRoute(scene))).id as string };
};

export const freshEventRoute = async (scene: Scene) => {
  const path = `${scene.base}/notification-event-topic-routes`;
  return { routeId: (await scene.post(path, await eventRoute(scene))).id as string };
};
