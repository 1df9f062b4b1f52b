/** Rules for the fields of requests about projects, orgs and routes. */
import { optionalField, requiredField } from '../support/conformance/body.ts';
import { createBodyRules } from '../support/conformance/body-rules.ts';
import {
  createDomainClaimBody,
  createInviteBody,
  createProjectBody,
} from '../support/conformance/fresh-resources.ts';
import type { BodyEndpoint } from '../support/conformance/outcome.ts';
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

export const projectBody: BodyEndpoint = {
  send: ({ builder }, body) => builder.request('POST', '/projects', body),
  mutation: 'createProject',
  usesBuilder: true,
  extraInput: () => ({}),
};
export const claimBody: BodyEndpoint = {
  ...projectBody,
  send: ({ builder }, body) => builder.request('POST', '/claimed-domains', body),
  mutation: 'claimDomain',
};

const projectBodies: Section = {
  title: 'Bodies of API keys, projects and claims',
  rules: [
    ...createBodyRules({
      name: 'A new API key',
      send: ({ request, base }, body) => request('POST', `${base}/api-keys`, body),
      mutation: 'createApiKey',
      createCompleteBody: () => ({ label: 'CI', scopes: ['read'] }),
      fields: {
        label: requiredField('string'),
        scopes: optionalField('strings', { isRestOnly: true }),
      },
    }),
    ...createBodyRules({
      ...projectBody,
      name: 'A new project',
      createCompleteBody: createProjectBody,
      fields: {
        appName: requiredField('string'),
        name: requiredField('string'),
        orgId: requiredField('string'),
      },
    }),
    ...createBodyRules({
      ...claimBody,
      name: 'A claim of a domain',
      createCompleteBody: createDomainClaimBody,
      fields: {
        domain: requiredField('string'),
        parentId: requiredField('string'),
        parentType: requiredField('string', { values: ['org'] }),
      },
    }),
    ...createBodyRules({
      name: 'A new invite',
      send: ({ request, tenant }, body) => request('POST', `/orgs/${tenant.orgId}/invites`, body),
      mutation: 'createInvite',
      extraInput: ({ tenant }) => ({ orgId: tenant.orgId }),
      createCompleteBody: createInviteBody,
      fields: { email: requiredField('string') },
    }),
  ],
};

const routeBodies: Section = {
  title: 'Bodies of routes',
  rules: [
    ...createBodyRules({
      name: 'A new route of a topic to a destination',
      send: ({ request, base }, body) => request('POST', `${base}/topic-destination-routes`, body),
      mutation: 'createTopicDestinationRoute',
      createCompleteBody: async ({ resources, createTopic }) => ({
        topicId: await createTopic(),
        destinationId: (await resources.destination()).id,
      }),
      fields: { topicId: requiredField('string'), destinationId: requiredField('string') },
    }),
    ...createBodyRules({
      name: 'A new route of events to a topic',
      send: ({ request, base }, body) =>
        request('POST', `${base}/notification-event-topic-routes`, body),
      mutation: 'createEventTopicRoute',
      createCompleteBody: async ({ createTopic }) => ({
        eventType: 'connection.created',
        topicId: await createTopic(),
      }),
      fields: {
        eventType: requiredField('string', { values: EVENT_TYPES }),
        topicId: requiredField('string'),
      },
    }),
  ],
};

const readBodies: Section = {
  title: 'Bodies of pauses',
  rules: createBodyRules({
    name: 'A pause of reads',
    send: ({ request, installationPath }, body) =>
      request('POST', `${installationPath}:pause`, body),
    mutation: 'pauseReads',
    extraInput: ({ tenant, installation }) => ({
      projectIdOrName: tenant.projectName,
      installationId: installation.id,
    }),
    createCompleteBody: () => ({ objects: ['contacts'], note: 'Moving.' }),
    fields: { objects: optionalField('strings'), note: optionalField('string') },
  }),
};

export const bodies: Section[] = [projectBodies, routeBodies, readBodies];
