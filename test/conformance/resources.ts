/** The resources of projects and orgs, field by field. */
import { fieldRules } from '../support/conformance/field-rules.ts';
import { always, maybe } from '../support/conformance/resource.ts';
import type { Section } from '../support/conformance/rule.ts';

const id = always('string');
const projectId = always('string', { graphql: 'project.id' });
const createTime = always('time');
const updateTime = maybe('time');

const apiKeys: Section = {
  title: 'API keys',
  rules: fieldRules({
    name: 'An API key',
    schema: 'ApiKey',
    type: 'ApiKey',
    shown: ({ made }) => made.apiKey(),
    fields: {
      key: always('string', { graphql: 'CreateApiKeyPayload.key' }),
      label: always('string'),
      scopes: always('strings'),
      projectId,
      active: maybe('boolean'),
    },
  }),
};

const projects: Section = {
  title: 'Projects',
  rules: fieldRules({
    name: 'A project',
    schema: 'Project',
    type: 'Project',
    shown: ({ made }) => made.project(),
    fields: {
      id,
      name: always('string'),
      appName: always('string'),
      orgId: always('string'),
      createTime,
      updateTime,
      entitlements: maybe('object'),
      'entitlements.brandingRemoval': maybe('object'),
      'entitlements.brandingRemoval.value': maybe('boolean'),
    },
  }),
};

const groups: Section = {
  title: 'Groups and consumers',
  rules: [
    ...fieldRules({
      name: 'A group',
      schema: 'Group',
      type: 'Group',
      shown: async ({ made }) => (await made.connection()).group,
      fields: {
        groupRef: always('string'),
        groupName: always('string'),
        projectId,
        createTime,
        updateTime,
      },
    }),
    ...fieldRules({
      name: 'A consumer',
      schema: 'Consumer',
      type: 'Consumer',
      shown: async ({ made }) => (await made.connection()).consumer,
      fields: {
        consumerRef: always('string'),
        consumerName: always('string'),
        projectId,
        createTime,
        updateTime,
      },
    }),
  ],
};

const INVITE_STATUSES = ['pending', 'accepted', 'revoked', 'expired'];

const orgs: Section = {
  title: 'Invites, builders and billing accounts',
  rules: [
    ...fieldRules({
      name: 'An invite',
      schema: 'Invite',
      type: 'Invite',
      shown: ({ made }) => made.invite(),
      fields: {
        id,
        invitedEmail: always('string'),
        parentType: always('string', { oneOf: ['org'] }),
        parentId: always('string'),
        status: always('string', { oneOf: INVITE_STATUSES }),
        createTime,
        updateTime,
      },
    }),
    ...fieldRules({
      name: 'A builder',
      schema: 'Builder',
      type: 'Builder',
      shown: ({ made }) => made.builder(),
      async shownByGraphql({ app, made }, selection) {
        const { token } = await made.builder();
        const client = app.client({ authorization: `Bearer ${token}` });
        return (await client.query(`{ viewer { builder { ${selection} } } }`)).viewer.builder;
      },
      fields: {
        id,
        idpProvider: always('string'),
        idpRef: always('string'),
        createTime,
        firstName: maybe('string'),
        lastName: maybe('string'),
        fullName: maybe('string'),
        primaryEmail: maybe('string'),
      },
    }),
    ...fieldRules({
      name: 'A billing account',
      schema: 'BillingAccount',
      type: 'BillingAccount',
      shown: ({ made }) => made.billingAccount(),
      fields: {
        id,
        displayName: always('string'),
        billingProvider: always('string'),
        billingProviderRef: always('string'),
        createTime: maybe('time'),
        updateTime: maybe('time', { isUnset: true }),
      },
    }),
  ],
};

const routes: Section = {
  title: 'Routes',
  rules: [
    ...fieldRules({
      name: 'A route of a topic to a destination',
      schema: 'TopicDestinationRoute',
      type: 'TopicDestinationRoute',
      shown: ({ made }) => made.topicRoute(),
      fields: {
        id,
        topicId: always('string', { graphql: 'topic.id' }),
        destinationId: always('string', { graphql: 'destination.id' }),
        projectId,
        createTime,
      },
    }),
    ...fieldRules({
      name: 'A route of events to a topic',
      schema: 'NotificationEventTopicRoute',
      type: 'EventTopicRoute',
      shown: ({ made }) => made.eventRoute(),
      fields: {
        id,
        eventType: always('string'),
        topicId: always('string', { graphql: 'topic.id' }),
        projectId,
        createTime,
        updateTime: maybe('time', { isUnset: true }),
      },
    }),
  ],
};

export const resources: Section[] = [apiKeys, projects, groups, orgs, routes];
