/**
 * Calls of every mutation with every member of its input. `@name` stands for the ID that an earlier step
 * returned under that name.
 */

import { completeContent, subscribeContent } from '../conformance/contents.ts';
import { createJwtKeyPair } from '../fixtures/end-users.ts';
import { createIntegrationContent, toRevision } from '../fixtures/integrations.ts';
import { createDocument } from './custom-providers.ts';

export interface Step {
  mutation: string;
  input: object;
  /**
   * A builder calls the mutation: `builder` is a member of the org, `guest` is invited to it. Default: the
   * API key calls it.
   */
  caller?: 'builder' | 'guest';
  /** The name under which later steps refer to the ID in the payload. */
  resultName?: string;
  /** The reason why the mutation is refused after its input was read. Absent if it succeeds. */
  refusalReason?: string;
}

const FIELD_SETTING = {
  fieldName: 'email',
  default: 'nobody@example.com',
  defaultOnUpdate: true,
  writeOnCreate: 'ALWAYS',
  writeOnUpdate: 'IF_EMPTY',
};
const oauthClient = { clientId: 'client', clientSecret: 'sandbox-secret' };
const basicAuth = { username: 'ann', password: 'sandbox-password' };
const tokenTimes = { issueTime: '2026-01-01T00:00:00Z', expireTime: '2099-01-01T00:00:00Z' };
const CREDENTIALS: Record<string, object> = {
  apiKey: { apiKey: 'sandbox-key' },
  basicAuth: { basicAuth },
  clientCredentials: { oauth2ClientCredentials: { ...oauthClient, scopes: ['a'] } },
  password: { oauth2PasswordCredentials: { ...oauthClient, ...basicAuth, scopes: ['a'] } },
  tokens: {
    oauth2AuthorizationCode: {
      accessToken: { token: 'at', ...tokenTimes },
      refreshToken: { token: 'rt', ...tokenTimes },
      scopes: ['a'],
    },
  },
  customAuth: { customAuth: { accountKey: 'sandbox-key-a' } },
};
const connectionMembers = {
  provider: 'sandbox',
  consumerRef: 'ann',
  consumerName: 'Ann',
  groupName: 'Acme',
  providerAppId: '@app',
  providerWorkspaceRef: 'workspace-1',
  providerMetadata: { region: { value: 'eu', source: 'input' } },
};

const API_KEY_SCHEME = { authScheme: 'API_KEY' };

const url = 'https://hooks.example.com/in';
const EVENT_STEPS: Step[] = [
  { mutation: 'createTopic', input: { name: 'alerts' }, resultName: 'topic' },
  { mutation: 'updateTopic', input: { topicId: '@topic', name: 'alarms' } },
  ...['records', 'other'].map((name) => ({
    mutation: 'createDestination',
    input: { name, type: 'WEBHOOK', url, headers: { 'x-a': '1' } },
    resultName: name,
  })),
  {
    mutation: 'updateDestination',
    input: {
      destinationId: '@other',
      name: 'another',
      url,
      headers: {},
      keepHeaders: [],
      status: 'DISABLED',
    },
  },
  { mutation: 'rotateDestinationSecret', input: { destinationId: '@other' } },
  {
    mutation: 'planProject',
    input: {
      document: `specVersion: 1.0.0
destinations:
  - { name: planned, type: webhook, url: ${url}, headers: [x-a] }`,
      allowDeletions: false,
      renames: [{ kind: 'DESTINATION', from: 'renamed', to: 'records' }],
    },
    resultName: 'plan',
  },
  {
    mutation: 'applyPlan',
    input: {
      planId: '@plan',
      secrets: [{ path: 'destinations.planned.headers.x-a', value: 'secret' }],
    },
  },
  {
    mutation: 'createTopicDestinationRoute',
    input: { topicId: '@topic', destinationId: '@other' },
    resultName: 'topicRoute',
  },
  {
    mutation: 'createEventTopicRoute',
    input: { topicId: '@topic', eventType: 'CONNECTION_CREATED' },
    resultName: 'eventRoute',
  },
  { mutation: 'sendTestMessage', input: { destinationId: '@other' } },
  {
    mutation: 'retryDeliveries',
    input: {
      destinationId: '@other',
      statuses: ['FAILED'],
      createTime: { from: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' },
    },
  },
  {
    mutation: 'retryDelivery',
    input: { deliveryId: '@delivery' },
    refusalReason: 'its destination is gone',
  },
];

const appMembers = {
  ...oauthClient,
  webhookSecret: 'secret',
  externalRef: '42',
  scopes: ['a'],
  metadata: { providerParams: {} },
};
const APP_FIELDS = [
  'EXTERNAL_REF',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'PROVIDER',
  'SCOPES',
  'METADATA',
  'WEBHOOK_SECRET',
];
const PROVIDER_STEPS: Step[] = [
  {
    mutation: 'createProvider',
    input: { document: createDocument('https://api.acme.example') },
    resultName: 'customProvider',
  },
  {
    mutation: 'updateProvider',
    input: {
      customProviderId: '@customProvider',
      document: createDocument('https://api.acme.example', { displayName: 'ACME' }),
      destructive: false,
    },
  },
  { mutation: 'deleteProvider', input: { customProviderId: '@customProvider' } },
];

const CONNECTION_STEPS: Step[] = [
  { mutation: 'createApiKey', input: { label: 'CI', scopes: ['read'] }, resultName: 'key' },
  {
    mutation: 'updateApiKey',
    input: { apiKeyId: '@key', label: 'CI', scopes: ['full'], active: false },
  },
  {
    mutation: 'createJwtKey',
    input: { label: 'server', publicKeyPem: createJwtKeyPair().publicKeyPem },
    resultName: 'jwtKey',
  },
  { mutation: 'updateJwtKey', input: { jwtKeyId: '@jwtKey', label: 'old', active: false } },
  { mutation: 'deleteJwtKey', input: { jwtKeyId: '@jwtKey' } },
  {
    mutation: 'createProviderApp',
    input: { ...appMembers, provider: 'sandbox' },
    resultName: 'app',
  },
  {
    mutation: 'updateProviderApp',
    input: {
      providerAppId: '@app',
      updateMask: APP_FIELDS,
      providerApp: { ...appMembers, provider: 'sandbox' },
    },
  },
  ...Object.entries(CREDENTIALS).flatMap(([name, credentials]): Step[] => [
    {
      mutation: 'generateConnection',
      input: {
        ...{ ...connectionMembers, credentials, groupRef: name, skipCheck: false },
        ...(name === 'apiKey' && API_KEY_SCHEME),
      },
      resultName: name,
    },
    {
      mutation: 'updateConnection',
      input: {
        credentials,
        connectionId: `@${name}`,
        providerWorkspaceRef: 'workspace-2',
        providerMetadata: {},
        skipCheck: true,
      },
    },
  ]),
  {
    mutation: 'refreshConnection',
    input: { connectionId: '@tokens' },
    refusalReason: 'the sandbox has not given this token',
  },
  {
    mutation: 'testProvider',
    input: { connectionId: '@apiKey', objectName: 'contacts', module: 'root' },
  },
  {
    mutation: 'startOAuthConnect',
    input: {
      ...connectionMembers,
      groupRef: 'asked',
      scopes: ['a'],
      authScheme: 'OAUTH2_AUTHORIZATION_CODE',
      redirectUrl: 'https://app.example.com/done',
    },
  },
  {
    mutation: 'startOAuthUpdate',
    input: {
      connectionId: '@tokens',
      scopes: ['a'],
      returnUrl: 'https://app.example.com/done',
    },
  },
];

const [readObject] = completeContent.read.objects;
const surname = {
  mapToName: 'surname',
  default: 'lastname',
  prompt: 'Which is the surname?',
  valueType: 'string',
};
const requiredFields = [...(readObject?.requiredFields ?? []), surname];
const watchAlways = { enabled: 'always' };
const content = createIntegrationContent('crm', {
  ...completeContent,
  ...subscribeContent,
  watchSchema: {
    destination: 'records',
    schedule: '0 0 * * *',
    allObjects: { fieldCreated: watchAlways, fieldDeleted: watchAlways, fieldChanged: watchAlways },
  },
  read: { objects: [{ ...readObject, requiredFields }] },
});
const [subscribedObject] = subscribeContent.subscribe.objects;
const watchAllFields = { enabled: 'always', watchFieldsAuto: 'all' };
const fullHistory = { backfill: { defaultPeriod: { fullHistory: true } } };
const revision = toRevision({
  ...content,
  read: { objects: [{ ...readObject, requiredFields, ...fullHistory }] },
  subscribe: { objects: [{ ...subscribedObject, updateEvent: watchAllFields }] },
});
const moduleContent = { module: 'crm', proxy: { enabled: true, useModule: true } };
const installationInput = {
  configCreatedBy: 'builder:them',
  skipSampling: true,
  connectionId: '@apiKey',
  config: {
    provider: 'sandbox',
    proxy: { enabled: true },
    read: [
      {
        objectName: 'contacts',
        destination: 'records',
        schedule: '0 * * * *',
        selectedFields: ['phone'],
        fieldMappings: [
          {
            fieldName: 'lastname',
            mapToName: 'surname',
            mapToDisplayName: 'Name',
            valueType: 'string',
          },
        ],
        selectedFieldsAuto: 'all',
        dynamicMappings: [
          {
            mapToName: 'phase',
            mapToDisplayName: 'Phase',
            prompt: 'Which is the phase?',
            fieldName: 'lifecycle',
            mappedValues: [{ mappedValue: 'new', mappedDisplayValue: 'New' }],
          },
        ],
        valueMappings: [
          { fieldName: 'phase', values: [{ deliveredValue: 'new', providerValue: 'lead' }] },
        ],
        fieldFilters: [{ fieldName: 'newsletter', operator: 'EQ', value: true }],
        backfill: { days: 30, fieldFilters: [{ fieldName: 'score', operator: 'EQ', value: 1 }] },
        disabled: false,
      },
    ],
    subscribe: [
      {
        objectName: 'contacts',
        destination: 'records',
        inheritFieldsAndMapping: true,
        createEvent: { enabled: 'NEVER' },
        updateEvent: {
          enabled: 'ALWAYS',
          watchFieldsAuto: 'all',
          requiredWatchFields: [] as string[],
        },
        deleteEvent: { enabled: 'ALWAYS' },
        otherEvents: ['object.merged'],
      },
    ],
    write: [{ objectName: 'contacts', deletionEnabled: true, fields: [FIELD_SETTING] }],
  },
};
const installationWithFullHistory = structuredClone(installationInput);
Object.assign(installationWithFullHistory.config.read[0] as object, {
  backfill: { fullHistory: true },
});

const pausedReads = { installationId: '@installation', objects: ['contacts'], note: 'Moving.' };
const pausedItem = { kind: 'READ_PAUSED', subjectId: '@installation', objectName: 'contacts' };

const INTEGRATION_STEPS: Step[] = [
  {
    mutation: 'createIntegration',
    input: { name: 'crm', provider: 'sandbox', latestRevision: toRevision(content) },
    resultName: 'integration',
  },
  {
    mutation: 'createSessionToken',
    input: {
      ...{ groupRef: 'acme', groupName: 'Acme', consumerRef: 'ann', consumerName: 'Ann' },
      integrations: ['@integration'],
      permissions: ['CONNECT'],
      expiresInSeconds: 60,
      returnUrl: 'https://app.example.com/done',
    },
  },
  {
    mutation: 'createIntegration',
    input: {
      name: 'in-module',
      provider: 'salesforce',
      latestRevision: toRevision({ name: 'in-module', provider: 'salesforce', ...moduleContent }),
    },
    resultName: 'inModule',
  },
  {
    mutation: 'createRevision',
    input: { integrationIdOrName: 'crm', revision, destructive: true },
  },
  {
    mutation: 'upsertIntegrations',
    input: {
      specVersion: '1.0.0',
      // A new integration, because an existing one is compared as a whole and not member by member.
      integrations: [{ ...content, name: 'crm-2' }],
      destructive: true,
    },
  },
  {
    mutation: 'createInstallation',
    input: { integrationIdOrName: 'crm', groupRef: 'apiKey', ...installationInput },
    resultName: 'installation',
  },
  {
    mutation: 'updateInstallation',
    input: { installationId: '@installation', ...installationWithFullHistory },
  },
  { mutation: 'pauseReads', input: pausedReads },
  {
    mutation: 'acknowledgeAttentionItem',
    input: { ...pausedItem, lastTime: '2026-01-01T00:00:00Z' },
  },
  { mutation: 'reopenAttentionItem', input: pausedItem },
  { mutation: 'resumeReads', input: pausedReads },
  {
    mutation: 'triggerRead',
    input: {
      integrationIdOrName: 'crm',
      objectName: 'contacts',
      groupRef: 'apiKey',
      sinceTime: '2026-01-01T00:00:00Z',
      untilTime: '2026-02-01T00:00:00Z',
    },
  },
];

const writeMembers = {
  integrationIdOrName: 'crm',
  objectName: 'contacts',
  groupRef: 'apiKey',
  type: 'CREATE',
};
const record = { mail: 'ann@example.com', lastname: 'Ann' };
const associations = [
  { to: { id: 'c1' }, types: [{ associationCategory: 'OWN', associationTypeId: 1 }] },
];
const headers = [{ key: 'x-sandbox-trace', value: '1' }];
const WRITES: object[] = [
  { records: { record }, associations, headers, idempotencyKey: 'once', mode: 'SYNCHRONOUS' },
  { records: { record }, mode: 'ASYNCHRONOUS', retryPolicy: { deadlineHours: 1 } },
  {
    records: { record },
    mode: 'ASYNCHRONOUS',
    autoBatchPolicy: { maxDelayMinutes: 60, retryDeadlineHours: 1 },
  },
  { records: { batch: [{ record, associations }] }, batchPolicy: { allOrNone: true } },
];
const WRITE_STEPS = WRITES.map((writeInput) => ({
  mutation: 'writeRecords',
  input: { ...writeMembers, ...writeInput },
}));

const AGENT_STEPS: Step[] = [
  {
    mutation: 'createAgentSession',
    input: {
      ...{ groupRef: 'apiKey', consumerRef: 'ann', name: 'Helper' },
      objects: ['people'],
      verbs: ['READ', 'CREATE'],
      rules: [
        { name: 'new', types: ['CREATE'], objects: ['people'], fields: ['mail'], maxPerDay: 10 },
      ],
      pinnedTools: [{ type: 'CREATE', objectName: 'people' }],
      expiresInSeconds: 60,
      proposalLifeSeconds: 60,
    },
    resultName: 'agentSession',
  },
  { mutation: 'revokeAgentSession', input: { agentSessionId: '@agentSession' } },
  {
    mutation: 'createProposal',
    input: {
      ...{ groupRef: 'apiKey', objectName: 'people', type: 'CREATE', reason: 'A new lead.' },
      values: { mail: 'ann@example.com', surname: 'Ann' },
    },
    resultName: 'proposal',
  },
  {
    mutation: 'createProposal',
    input: { objectName: 'people', type: 'DELETE', groupRef: 'apiKey', recordId: 'none' },
    refusalReason: 'the record does not exist',
  },
  {
    mutation: 'commitProposal',
    input: { proposalId: '@proposal', payloadHash: 'none' },
    refusalReason: 'the hash is that of another payload',
  },
  {
    mutation: 'approveProposal',
    input: { proposalId: '@proposal', reason: 'Fine.' },
    caller: 'builder',
  },
  {
    mutation: 'rejectProposal',
    input: { proposalId: '@proposal', reason: 'A mistake.' },
    caller: 'builder',
  },
];

const PLAIN_FIELD = { fieldName: 'motto', displayName: 'Motto', valueType: 'STRING' };

/** Every member that some provider supports. The sandbox refuses some of them. */
const DEFINITION = {
  fieldName: 'hobby',
  displayName: 'Hobby',
  valueType: 'REFERENCE',
  description: 'What they like',
  required: true,
  unique: true,
  indexed: true,
  stringOptions: {
    length: 9,
    pattern: '^a',
    values: ['a'],
    valuesRestricted: true,
    defaultValue: 'a',
  },
  numericOptions: { precision: 3, scale: 1, min: 1, max: 9, defaultValue: 2 },
  association: {
    associationType: 'lookup',
    targetObject: 'companies',
    targetField: 'id',
    cardinality: 'MANY_TO_ONE',
    onDelete: 'RESTRICT',
    required: true,
    reverseLookupFieldName: 'fans',
    labels: { singular: 'Fan', plural: 'Fans' },
  },
};
const objects = [{ objectName: 'contacts', fields: [DEFINITION] }];
const FIELD_STEPS: Step[] = [
  {
    mutation: 'upsertObjectMetadata',
    input: {
      ...{ provider: 'sandbox', groupRef: 'apiKey' },
      objects: [{ objectName: 'contacts', fields: [PLAIN_FIELD] }],
    },
  },
  {
    mutation: 'upsertObjectMetadata',
    input: { provider: 'sandbox', groupRef: 'apiKey', objects },
    refusalReason: 'no field has all of it',
  },
  {
    mutation: 'upsertInstalledObjectMetadata',
    input: { integrationIdOrName: 'crm', groupRef: 'apiKey', objects },
    refusalReason: 'no field has all of it',
  },
];

const ORG_STEPS: Step[] = [
  { mutation: 'createOrg', input: { label: 'Own' }, caller: 'builder', resultName: 'ownOrg' },
  { mutation: 'updateOrg', input: { orgId: '@ownOrg', label: 'Renamed' }, caller: 'builder' },
  {
    mutation: 'createProject',
    input: { orgId: '@ownOrg', name: 'walked-project', appName: 'App' },
    caller: 'builder',
    resultName: 'ownProject',
  },
  {
    mutation: 'updateProject',
    input: {
      projectIdOrName: '@ownProject',
      name: 'walked-2',
      appName: 'Other',
      allowedOrigins: ['https://app.example.com'],
      logoUrl: 'https://app.example.com/logo.svg',
      accentColor: '#aa3300',
      locale: 'de-AT',
    },
    caller: 'builder',
  },
  {
    mutation: 'claimDomain',
    input: { domain: 'walked.example.com', parentId: '@ownOrg', parentType: 'ORG' },
    caller: 'builder',
    resultName: 'claim',
  },
  {
    mutation: 'verifyClaimedDomain',
    input: { claimedDomainId: '@claim' },
    caller: 'builder',
    refusalReason: 'the domain has no record',
  },
  {
    mutation: 'joinOrg',
    input: { orgId: '@ownOrg' },
    caller: 'guest',
    refusalReason: 'the domain is not proven',
  },
  {
    mutation: 'addMember',
    input: { orgId: '@ownOrg', builderId: '@guest' },
    caller: 'builder',
    refusalReason: 'the guest is no colleague, and the domain is not proven',
  },
  { mutation: 'releaseClaimedDomain', input: { claimedDomainId: '@claim' }, caller: 'builder' },
  {
    mutation: 'createInvite',
    input: { orgId: '@ownOrg', email: 'guest@walked.example', role: 'ADMIN' },
    caller: 'builder',
    resultName: 'accepted',
  },
  { mutation: 'acceptInvite', input: { inviteId: '@accepted' }, caller: 'guest' },
  {
    mutation: 'acceptInvite',
    input: { invitedEmail: 'guest@walked.example' },
    caller: 'guest',
    refusalReason: 'the only invite is accepted already',
  },
  {
    mutation: 'updateMember',
    input: { orgId: '@ownOrg', builderId: '@guest', role: 'MEMBER' },
    caller: 'builder',
  },
  {
    mutation: 'removeMember',
    input: { orgId: '@ownOrg', builderId: '@guest' },
    caller: 'builder',
  },
  {
    mutation: 'createInvite',
    input: { orgId: '@ownOrg', email: 'other@walked.example', role: 'MEMBER' },
    caller: 'builder',
    resultName: 'invite',
  },
  {
    mutation: 'deleteInvite',
    input: { orgId: '@ownOrg', inviteId: '@invite' },
    caller: 'builder',
  },
];

const DELETION_STEPS: Step[] = [
  { mutation: 'deleteTopicDestinationRoute', input: { routeId: '@topicRoute' } },
  { mutation: 'deleteEventTopicRoute', input: { routeId: '@eventRoute' } },
  { mutation: 'deleteTopic', input: { topicId: '@topic' } },
  { mutation: 'deleteDestination', input: { destinationId: '@other' } },
  { mutation: 'deleteApiKey', input: { apiKey: '@key' } },
  { mutation: 'deleteInstallation', input: { installationId: '@installation' } },
  { mutation: 'deleteIntegration', input: { integrationIdOrName: 'crm' } },
  { mutation: 'deleteConnection', input: { connectionId: '@basicAuth' } },
  { mutation: 'updateConsumer', input: { consumerRef: 'ann', consumerName: 'Ann Lee' } },
  { mutation: 'updateGroup', input: { groupRef: 'apiKey', groupName: 'Renamed' } },
  { mutation: 'eraseConsumer', input: { consumerRef: 'ann' } },
  { mutation: 'eraseGroup', input: { groupRef: 'apiKey' } },
  {
    mutation: 'deleteProviderApp',
    input: { providerAppId: '@app' },
    refusalReason: 'connections use it',
  },
  {
    mutation: 'deleteProject',
    input: { projectIdOrName: '@ownProject', confirmName: 'walked-2' },
    caller: 'builder',
  },
  { mutation: 'deleteOrg', input: { orgId: '@ownOrg' }, caller: 'builder' },
];

export const STEPS: Step[] = [
  ...EVENT_STEPS,
  ...PROVIDER_STEPS,
  ...CONNECTION_STEPS,
  ...INTEGRATION_STEPS,
  ...WRITE_STEPS,
  ...AGENT_STEPS,
  ...FIELD_STEPS,
  ...ORG_STEPS,
  ...DELETION_STEPS,
];
