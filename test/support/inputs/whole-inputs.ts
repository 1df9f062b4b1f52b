/** Every mutation, called with every member of its input: `@name` stands for the id that the step of that name gave. */
import { subscribeContent, wholeContent } from '../conformance/contents.ts';
import { jwtKeyPair } from '../scenes/end-users.ts';
import { contentFor, revisionOf } from '../scenes/integrations.ts';

export interface Step {
  mutation: string;
  input: object;
  /** As a builder: of the org, or one who is invited to it. */
  as?: 'builder' | 'guest';
  /** What the id of its answer is called in later steps. */
  gives?: string;
  /** Why it is refused after its input was read. */
  isRefused?: string;
}

const FIELD_SETTING = {
  fieldName: 'email',
  default: 'nobody@example.com',
  defaultOnUpdate: true,
  writeOnCreate: 'ALWAYS',
  writeOnUpdate: 'IF_EMPTY',
};
const client = { clientId: 'client', clientSecret: 'sandbox-secret' };
const basicAuth = { username: 'ann', password: 'sandbox-password' };
const token = { issuedAt: '2026-01-01T00:00:00Z', expiresAt: '2099-01-01T00:00:00Z' };
const CREDENTIALS: Record<string, object> = {
  apiKey: { apiKey: 'sandbox-key' },
  basicAuth: { basicAuth },
  clientCredentials: { oauth2ClientCredentials: { ...client, scopes: ['a'] } },
  password: { oauth2PasswordCredentials: { ...client, ...basicAuth, scopes: ['a'] } },
  tokens: {
    oauth2AuthorizationCode: {
      accessToken: { token: 'at', ...token },
      refreshToken: { token: 'rt', ...token },
      scopes: ['a'],
    },
  },
  customAuth: { customAuth: { accountKey: 'sandbox-key-a' } },
};
const account = {
  provider: 'sandbox',
  consumerRef: 'ann',
  consumerName: 'Ann',
  groupName: 'Acme',
  providerAppId: '@app',
  providerWorkspaceRef: 'workspace-1',
  providerMetadata: { region: { value: 'eu', source: 'input' } },
};

const SCHEME = { authScheme: 'API_KEY' };

const url = 'https://hooks.example.com/in';
const ofEvents: Step[] = [
  { mutation: 'createTopic', input: { name: 'alerts' }, gives: 'topic' },
  { mutation: 'updateTopic', input: { topicId: '@topic', name: 'alarms' } },
  ...['records', 'other'].map((name) => ({
    mutation: 'createDestination',
    input: { name, type: 'WEBHOOK', url, headers: { 'x-a': '1' } },
    gives: name,
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
    mutation: 'createTopicDestinationRoute',
    input: { topicId: '@topic', destinationId: '@other' },
    gives: 'topicRoute',
  },
  {
    mutation: 'createEventTopicRoute',
    input: { topicId: '@topic', eventType: 'CONNECTION_CREATED' },
    gives: 'eventRoute',
  },
  { mutation: 'sendTestMessage', input: { destinationId: '@other' } },
  {
    mutation: 'retryDeliveries',
    input: {
      destinationId: '@other',
      status: 'FAILED',
      createTime: { from: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' },
    },
  },
  {
    mutation: 'retryDelivery',
    input: { deliveryId: '@delivery' },
    isRefused: 'its destination is gone',
  },
];

const app = {
  ...client,
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
const ofConnecting: Step[] = [
  { mutation: 'createApiKey', input: { label: 'CI', scopes: ['read'] }, gives: 'key' },
  {
    mutation: 'updateApiKey',
    input: { apiKeyId: '@key', label: 'CI', scopes: ['full'], active: false },
  },
  {
    mutation: 'createJwtKey',
    input: { label: 'server', publicKeyPem: jwtKeyPair().publicKeyPem },
    gives: 'jwtKey',
  },
  { mutation: 'updateJwtKey', input: { jwtKeyId: '@jwtKey', label: 'old', active: false } },
  { mutation: 'deleteJwtKey', input: { jwtKeyId: '@jwtKey' } },
  { mutation: 'createProviderApp', input: { ...app, provider: 'sandbox' }, gives: 'app' },
  {
    mutation: 'updateProviderApp',
    input: {
      providerAppId: '@app',
      updateMask: APP_FIELDS,
      providerApp: { ...app, provider: 'sandbox' },
    },
  },
  ...Object.entries(CREDENTIALS).flatMap(([name, given]): Step[] => [
    {
      mutation: 'generateConnection',
      input: {
        ...{ ...account, ...given, groupRef: name, skipCheck: false },
        ...(name === 'apiKey' && SCHEME),
      },
      gives: name,
    },
    {
      mutation: 'updateConnection',
      input: {
        ...given,
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
    isRefused: 'the sandbox has not given this token',
  },
  {
    mutation: 'startOAuthConnect',
    input: {
      ...account,
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

const [reading] = wholeContent.read.objects;
const surname = { mapToName: 'surname', default: 'lastname', prompt: 'Which is the surname?' };
const requiredFields = [...(reading?.requiredFields ?? []), surname];
const told = { enabled: 'always' };
const content = contentFor('crm', {
  ...wholeContent,
  ...subscribeContent,
  watchSchema: {
    destination: 'records',
    schedule: '0 0 * * *',
    allObjects: { fieldCreated: told, fieldDeleted: told, fieldChanged: told },
  },
  read: { objects: [{ ...reading, requiredFields }] },
});
const [subscribed] = subscribeContent.subscribe.objects;
const watchingAll = { enabled: 'always', watchFieldsAuto: 'all' };
const fromTheStart = { backfill: { defaultPeriod: { fullHistory: true } } };
const revision = revisionOf({
  ...content,
  read: { objects: [{ ...reading, requiredFields, ...fromTheStart }] },
  subscribe: { objects: [{ ...subscribed, updateEvent: watchingAll }] },
});
const inModule = { module: 'crm', proxy: { enabled: true, useModule: true } };
const installing = {
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
        fieldMappings: [{ fieldName: 'lastname', mapToName: 'surname', mapToDisplayName: 'Name' }],
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
const inFull = structuredClone(installing);
Object.assign(inFull.config.read[0] as object, { backfill: { fullHistory: true } });

const ofIntegrations: Step[] = [
  {
    mutation: 'createIntegration',
    input: { name: 'crm', provider: 'sandbox', latestRevision: revisionOf(content) },
    gives: 'integration',
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
      latestRevision: revisionOf({ name: 'in-module', provider: 'salesforce', ...inModule }),
    },
    gives: 'inModule',
  },
  {
    mutation: 'createRevision',
    input: { integrationIdOrName: 'crm', revision, destructive: true },
  },
  {
    mutation: 'upsertIntegrations',
    input: {
      specVersion: '1.0.0',
      // A new one: what is there already is compared as a whole.
      integrations: [{ ...content, name: 'crm-2' }],
      destructive: true,
    },
  },
  {
    mutation: 'createInstallation',
    input: { integrationIdOrName: 'crm', groupRef: 'apiKey', ...installing },
    gives: 'installation',
  },
  { mutation: 'updateInstallation', input: { installationId: '@installation', ...inFull } },
  ...['pauseReads', 'resumeReads'].map((mutation) => ({
    mutation,
    input: { installationId: '@installation', objects: ['contacts'], note: 'Moving.' },
  })),
  {
    mutation: 'triggerRead',
    input: {
      integrationIdOrName: 'crm',
      objectName: 'contacts',
      groupRef: 'apiKey',
      sinceTimestamp: '2026-01-01T00:00:00Z',
      untilTimestamp: '2026-02-01T00:00:00Z',
    },
  },
];

const writing = {
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
  { record, associations, headers, idempotencyKey: 'once', mode: 'SYNCHRONOUS' },
  { record, mode: 'ASYNCHRONOUS', retryPolicy: { deadlineHours: 1 } },
  {
    record,
    mode: 'ASYNCHRONOUS',
    autoBatchPolicy: { maxDelayMinutes: 60, retryDeadlineHours: 1 },
  },
  { batch: [{ record, associations }], batchPolicy: { allOrNone: true } },
];
const ofWrites = WRITES.map((given) => ({
  mutation: 'writeRecords',
  input: { ...writing, ...given },
}));

const PLAIN_FIELD = { fieldName: 'motto', displayName: 'Motto', valueType: 'STRING' };

/** With all that providers honour between them: the sandbox refuses a part of it. */
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
const ofFields: Step[] = [
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
    isRefused: 'no field has all of it',
  },
  {
    mutation: 'upsertInstalledObjectMetadata',
    input: { integrationIdOrName: 'crm', groupRef: 'apiKey', objects },
    isRefused: 'no field has all of it',
  },
];

const ofOrgs: Step[] = [
  { mutation: 'createOrg', input: { label: 'Own' }, as: 'builder', gives: 'ownOrg' },
  { mutation: 'updateOrg', input: { orgId: '@ownOrg', label: 'Renamed' }, as: 'builder' },
  {
    mutation: 'createProject',
    input: { orgId: '@ownOrg', name: 'walked-project', appName: 'App' },
    as: 'builder',
    gives: 'ownProject',
  },
  {
    mutation: 'updateProject',
    input: {
      projectIdOrName: '@ownProject',
      name: 'walked-2',
      appName: 'Other',
      allowedOrigins: ['https://app.example.com'],
    },
    as: 'builder',
  },
  {
    mutation: 'claimDomain',
    input: { domain: 'walked.example.com', parentId: '@ownOrg', parentType: 'ORG' },
    as: 'builder',
    gives: 'claim',
  },
  {
    mutation: 'verifyClaimedDomain',
    input: { claimedDomainId: '@claim' },
    as: 'builder',
    isRefused: 'the domain has no record',
  },
  {
    mutation: 'joinOrg',
    input: { orgId: '@ownOrg' },
    as: 'guest',
    isRefused: 'the domain is not proven',
  },
  {
    mutation: 'addMember',
    input: { orgId: '@ownOrg', builderId: '@guest' },
    as: 'builder',
    isRefused: 'the guest is no colleague, and the domain is not proven',
  },
  { mutation: 'releaseClaimedDomain', input: { claimedDomainId: '@claim' }, as: 'builder' },
  {
    mutation: 'createInvite',
    input: { orgId: '@ownOrg', email: 'guest@walked.example' },
    as: 'builder',
    gives: 'accepted',
  },
  { mutation: 'acceptInvite', input: { inviteId: '@accepted' }, as: 'guest' },
  {
    mutation: 'acceptInvite',
    input: { invitedEmail: 'guest@walked.example' },
    as: 'guest',
    isRefused: 'the only invite is accepted already',
  },
  {
    mutation: 'removeMember',
    input: { orgId: '@ownOrg', builderId: '@guest' },
    as: 'builder',
  },
  {
    mutation: 'createInvite',
    input: { orgId: '@ownOrg', email: 'other@walked.example' },
    as: 'builder',
    gives: 'invite',
  },
  {
    mutation: 'deleteInvite',
    input: { orgId: '@ownOrg', inviteId: '@invite' },
    as: 'builder',
  },
];

const ends: Step[] = [
  { mutation: 'deleteTopicDestinationRoute', input: { routeId: '@topicRoute' } },
  { mutation: 'deleteEventTopicRoute', input: { routeId: '@eventRoute' } },
  { mutation: 'deleteTopic', input: { topicId: '@topic' } },
  { mutation: 'deleteDestination', input: { destinationId: '@other' } },
  { mutation: 'deleteApiKey', input: { apiKey: '@key' } },
  { mutation: 'deleteInstallation', input: { installationId: '@installation' } },
  { mutation: 'deleteIntegration', input: { integrationIdOrName: 'crm' } },
  { mutation: 'deleteConnection', input: { connectionId: '@basicAuth' } },
  { mutation: 'eraseConsumer', input: { consumerRef: 'ann' } },
  { mutation: 'eraseGroup', input: { groupRef: 'apiKey' } },
  {
    mutation: 'deleteProviderApp',
    input: { providerAppId: '@app' },
    isRefused: 'connections use it',
  },
  {
    mutation: 'deleteProject',
    input: { projectIdOrName: '@ownProject', confirmName: 'walked-2' },
    as: 'builder',
  },
  { mutation: 'deleteOrg', input: { orgId: '@ownOrg' }, as: 'builder' },
];

export const STEPS: Step[] = [
  ...ofEvents,
  ...ofConnecting,
  ...ofIntegrations,
  ...ofWrites,
  ...ofFields,
  ...ofOrgs,
  ...ends,
];
