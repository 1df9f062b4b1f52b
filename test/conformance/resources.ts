/** Rules for the fields of projects and orgs. */
import { createFieldRules } from '../support/conformance/field-rules.ts';
import { optionalMember, requiredMember } from '../support/conformance/resource.ts';
import type { Section } from '../support/conformance/rule.ts';

const id = requiredMember('string');
const projectId = requiredMember('string', { graphql: 'project.id' });
const createTime = requiredMember('time');
const updateTime = optionalMember('time');

const apiKeys: Section = {
  title: 'API keys',
  rules: createFieldRules({
    name: 'An API key',
    schema: 'ApiKey',
    type: 'ApiKey',
    load: ({ resources }) => resources.apiKey(),
    fields: {
      key: requiredMember('string', { graphql: 'CreateApiKeyPayload.key' }),
      label: requiredMember('string'),
      scopes: requiredMember('strings'),
      projectId,
      active: optionalMember('boolean'),
    },
  }),
};

const projects: Section = {
  title: 'Projects',
  rules: createFieldRules({
    name: 'A project',
    schema: 'Project',
    type: 'Project',
    load: ({ resources }) => resources.project(),
    fields: {
      id,
      name: requiredMember('string'),
      appName: requiredMember('string'),
      orgId: requiredMember('string'),
      createTime,
      updateTime,
      entitlements: optionalMember('object'),
      'entitlements.brandingRemoval': optionalMember('object'),
      'entitlements.brandingRemoval.value': optionalMember('boolean'),
    },
  }),
};

const groups: Section = {
  title: 'Groups and consumers',
  rules: [
    ...createFieldRules({
      name: 'A group',
      schema: 'Group',
      type: 'Group',
      load: async ({ resources }) => (await resources.connection()).group,
      fields: {
        groupRef: requiredMember('string'),
        groupName: requiredMember('string'),
        projectId,
        createTime,
        updateTime,
      },
    }),
    ...createFieldRules({
      name: 'A consumer',
      schema: 'Consumer',
      type: 'Consumer',
      load: async ({ resources }) => (await resources.connection()).consumer,
      fields: {
        consumerRef: requiredMember('string'),
        consumerName: requiredMember('string'),
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
    ...createFieldRules({
      name: 'An invite',
      schema: 'Invite',
      type: 'Invite',
      load: ({ resources }) => resources.invite(),
      fields: {
        id,
        invitedEmail: requiredMember('string'),
        parentType: requiredMember('string', { values: ['org'] }),
        parentId: requiredMember('string'),
        status: requiredMember('string', { values: INVITE_STATUSES }),
        createTime,
        updateTime,
      },
    }),
    ...createFieldRules({
      name: 'A builder',
      schema: 'Builder',
      type: 'Builder',
      load: ({ resources }) => resources.builder(),
      async queryGraphql({ app, resources }, selection) {
        const { token } = await resources.builder();
        const client = app.createClient({ authorization: `Bearer ${token}` });
        return (await client.query(`{ viewer { builder { ${selection} } } }`)).viewer.builder;
      },
      fields: {
        id,
        idpProvider: requiredMember('string'),
        idpRef: requiredMember('string'),
        createTime,
        firstName: optionalMember('string'),
        lastName: optionalMember('string'),
        fullName: optionalMember('string'),
        primaryEmail: optionalMember('string'),
      },
    }),
    ...createFieldRules({
      name: 'A billing account',
      schema: 'BillingAccount',
      type: 'BillingAccount',
      load: ({ resources }) => resources.billingAccount(),
      fields: {
        id,
        displayName: requiredMember('string'),
        billingProvider: requiredMember('string'),
        billingProviderRef: requiredMember('string'),
        createTime: optionalMember('time'),
        updateTime: optionalMember('time', { isUnset: true }),
      },
    }),
  ],
};

const routes: Section = {
  title: 'Routes',
  rules: [
    ...createFieldRules({
      name: 'A route of a topic to a destination',
      schema: 'TopicDestinationRoute',
      type: 'TopicDestinationRoute',
      load: ({ resources }) => resources.topicRoute(),
      fields: {
        id,
        topicId: requiredMember('string', { graphql: 'topic.id' }),
        destinationId: requiredMember('string', { graphql: 'destination.id' }),
        projectId,
        createTime,
      },
    }),
    ...createFieldRules({
      name: 'A route of events to a topic',
      schema: 'NotificationEventTopicRoute',
      type: 'EventTopicRoute',
      load: ({ resources }) => resources.eventRoute(),
      fields: {
        id,
        eventType: requiredMember('string'),
        topicId: requiredMember('string', { graphql: 'topic.id' }),
        projectId,
        createTime,
        updateTime: optionalMember('time', { isUnset: true }),
      },
    }),
  ],
};

export const resources: Section[] = [apiKeys, projects, groups, orgs, routes];
