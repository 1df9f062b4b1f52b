/** The bodies of requests about projects, orgs and routes, field by field. */
import { needed, optional } from '../support/conformance/body.ts';
import { bodyRules } from '../support/conformance/body-rules.ts';
import { claim, newInvite, newProject } from '../support/conformance/fresh.ts';
import type { Sendable } from '../support/conformance/outcome.ts';
import type { Section } from '../support/conformance/rule.ts';

const EVENT_TYPES = [
  'read.backfill.done',
  'connection.created',
  'connection.error',
  'connection.refreshed',
  'connection.deleted',
  'installation.created',
  'installation.updated',
  'installation.deleted',
  'read.schedule.paused',
  'write.async.done',
  'destination.webhook.disabled',
];

export const projectBody: Sendable = {
  send: ({ builder }, body) => builder.ask('POST', '/projects', body),
  mutation: 'createProject',
  isBuilders: true,
  beside: () => ({}),
};
export const claimBody: Sendable = {
  ...projectBody,
  send: ({ builder }, body) => builder.ask('POST', '/claimed-domains', body),
  mutation: 'claimDomain',
};

const ofProjects: Section = {
  title: 'Bodies of API keys, projects and claims',
  rules: [
    ...bodyRules({
      name: 'A new API key',
      send: ({ ask, base }, body) => ask('POST', `${base}/api-keys`, body),
      mutation: 'createApiKey',
      whole: () => ({ label: 'CI', scopes: ['read'] }),
      fields: { label: needed('string'), scopes: optional('strings', { isRestOnly: true }) },
    }),
    ...bodyRules({
      ...projectBody,
      name: 'A new project',
      whole: newProject,
      fields: { appName: needed('string'), name: needed('string'), orgId: needed('string') },
    }),
    ...bodyRules({
      ...claimBody,
      name: 'A claim of a domain',
      whole: claim,
      fields: {
        domain: needed('string'),
        parentId: needed('string'),
        parentType: needed('string', { oneOf: ['org'] }),
      },
    }),
    ...bodyRules({
      name: 'A new invite',
      send: ({ ask, tenant }, body) => ask('POST', `/orgs/${tenant.orgId}/invites`, body),
      mutation: 'createInvite',
      beside: ({ tenant }) => ({ orgId: tenant.orgId }),
      whole: newInvite,
      fields: { email: needed('string') },
    }),
  ],
};

const ofRoutes: Section = {
  title: 'Bodies of routes',
  rules: [
    ...bodyRules({
      name: 'A new route of a topic to a destination',
      send: ({ ask, base }, body) => ask('POST', `${base}/topic-destination-routes`, body),
      mutation: 'createTopicDestinationRoute',
      whole: async ({ made, freshTopic }) => ({
        topicId: await freshTopic(),
        destinationId: (await made.destination()).id,
      }),
      fields: { topicId: needed('string'), destinationId: needed('string') },
    }),
    ...bodyRules({
      name: 'A new route of events to a topic',
      send: ({ ask, base }, body) => ask('POST', `${base}/notification-event-topic-routes`, body),
      mutation: 'createEventTopicRoute',
      whole: async ({ freshTopic }) => ({
        eventType: 'connection.created',
        topicId: await freshTopic(),
      }),
      fields: {
        eventType: needed('string', { oneOf: EVENT_TYPES }),
        topicId: needed('string'),
      },
    }),
  ],
};

const ofReads: Section = {
  title: 'Bodies of pauses',
  rules: bodyRules({
    name: 'A pause of reads',
    send: ({ ask, installationPath }, body) => ask('POST', `${installationPath}:pause`, body),
    mutation: 'pauseReads',
    beside: ({ tenant, installation }) => ({
      projectIdOrName: tenant.projectName,
      installationId: installation.id,
    }),
    whole: () => ({ objects: ['contacts'], note: 'Moving.' }),
    fields: { objects: optional('strings'), note: optional('string') },
  }),
};

export const bodies: Section[] = [ofProjects, ofRoutes, ofReads];
