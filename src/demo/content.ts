/** The content of the demo, as inputs of the gateway's mutations. */

/** The name of the stream destination that the demo follows. */
export const DEMO_STREAM = 'live';

/** The customer whose people are at the sandbox's help desk. */
const DESK_GROUP = { groupRef: 'initech', groupName: 'Initech' } as const;

/**
 * A connection for each of the seven authentication schemes of the sandbox's CRM, and one to its help desk. The demo's
 * installations use the first three.
 */
export const DEMO_CONNECTIONS = [
  {
    groupRef: 'acme',
    groupName: 'Acme Inc.',
    consumerRef: 'ada',
    consumerName: 'Ada Lovelace',
    credentials: { apiKey: 'sandbox-key' },
  },
  {
    groupRef: 'globex',
    groupName: 'Globex Corporation',
    consumerRef: 'grace',
    consumerName: 'Grace Hopper',
    credentials: { basicAuth: { username: 'sandbox', password: 'sandbox-password' } },
  },
  {
    provider: 'sandboxDesk',
    ...DESK_GROUP,
    consumerRef: 'radia',
    consumerName: 'Radia Perlman',
    credentials: { apiKey: 'sandbox-key' },
  },
  {
    ...DESK_GROUP,
    consumerRef: 'alan',
    consumerName: 'Alan Turing',
    credentials: {
      oauth2ClientCredentials: { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' },
    },
  },
  {
    groupRef: 'umbrella',
    groupName: 'Umbrella',
    consumerRef: 'edsger',
    consumerName: 'Edsger Dijkstra',
    credentials: {
      oauth2PasswordCredentials: {
        username: 'sandbox',
        password: 'sandbox-password',
        clientId: 'sandbox-client',
        clientSecret: 'sandbox-secret',
      },
    },
  },
  {
    groupRef: 'hooli',
    groupName: 'Hooli',
    consumerRef: 'barbara',
    consumerName: 'Barbara Liskov',
    credentials: {
      oauth2AuthorizationCode: {
        accessToken: { token: 'sandbox-access-token' },
        scopes: ['crm.read', 'crm.write'],
      },
    },
  },
  {
    groupRef: 'stark',
    groupName: 'Stark Industries',
    consumerRef: 'donald',
    consumerName: 'Donald Knuth',
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    credentials: {
      oauth2AuthorizationCode: {
        accessToken: { token: 'sandbox-access-token' },
        scopes: ['crm.read'],
      },
    },
  },
  {
    groupRef: 'wayne',
    groupName: 'Wayne Enterprises',
    consumerRef: 'margaret',
    consumerName: 'Margaret Hamilton',
    authScheme: 'NONE',
  },
] as const;

const contactsRead = {
  objectName: 'contacts',
  destination: 'records',
  schedule: '*/10 * * * *',
  mapToName: 'people',
  mapToDisplayName: 'People',
  requiredFields: [
    { fieldName: 'email', mapToName: 'emailAddress', mapToDisplayName: 'Email address' },
    { fieldName: 'firstname' },
    { fieldName: 'lastname' },
  ],
  optionalFields: [{ fieldName: 'phone' }, { fieldName: 'lifecycle' }],
};

/** The first revision. Its write object has neither unique nor mapped fields, so it accepts any record. */
const firstRevision = {
  name: 'crm-sync',
  provider: 'sandbox',
  displayName: 'CRM sync',
  read: { objects: [contactsRead] },
  write: { objects: [{ objectName: 'deals' }] },
  proxy: { enabled: true },
};

/** The second revision also reads companies, and writes contacts by their mapped names. */
const secondRevision = {
  ...firstRevision,
  read: {
    objects: [
      contactsRead,
      {
        objectName: 'companies',
        mapToDisplayName: 'Companies',
        destination: DEMO_STREAM,
        requiredFields: [{ fieldName: 'name' }, { fieldName: 'domain' }],
        optionalFieldsAuto: 'ALL',
      },
    ],
  },
  write: {
    objects: [{ objectName: 'deals' }, { objectName: 'contacts', inheritMapping: true }],
  },
};

const alwaysEnabled = { enabled: 'ALWAYS' };

/** The revisions of the CRM's integration, oldest first. The last one also subscribes to contacts. */
const CRM_REVISIONS = [
  firstRevision,
  secondRevision,
  {
    ...secondRevision,
    subscribe: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'records',
          inheritFieldsAndMapping: true,
          createEvent: alwaysEnabled,
          updateEvent: alwaysEnabled,
          deleteEvent: alwaysEnabled,
        },
      ],
    },
  },
] as const;

/**
 * The integration with the help desk. Its object has the same mapped name and fields as the contacts of the CRM, so the
 * typed API shows the customers of both providers together.
 */
const DESK_INTEGRATION = {
  name: 'desk-sync',
  provider: 'sandboxDesk',
  displayName: 'Desk sync',
  read: {
    objects: [
      {
        objectName: 'people',
        destination: 'records',
        schedule: '*/10 * * * *',
        mapToName: 'people',
        mapToDisplayName: 'People',
        requiredFields: [
          { fieldName: 'mail', mapToName: 'emailAddress', mapToDisplayName: 'Email address' },
          { fieldName: 'given', mapToName: 'firstname' },
          { fieldName: 'family', mapToName: 'lastname' },
        ],
        optionalFields: [{ fieldName: 'mobile', mapToName: 'phone' }],
      },
    ],
  },
  write: { objects: [{ objectName: 'people', inheritMapping: true }] },
  proxy: { enabled: true },
} as const;

/**
 * The integrations with their revisions, oldest first. The main integration and installation are last, because lists
 * begin with the newest.
 */
export const DEMO_INTEGRATIONS = [[DESK_INTEGRATION], CRM_REVISIONS] as const;

export const DEMO_INSTALLATIONS = [
  { integration: DESK_INTEGRATION.name, groupRef: DESK_GROUP.groupRef },
  { integration: firstRevision.name, groupRef: DEMO_CONNECTIONS[1].groupRef },
  { integration: firstRevision.name, groupRef: DEMO_CONNECTIONS[0].groupRef },
] as const;

/** The provider app. The sandbox signs its events with the client secret. */
export const DEMO_APP = {
  provider: 'sandbox',
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
} as const;

/** Two inboxes of the sandbox, and one stream. */
export const DEMO_DESTINATIONS = [
  { name: 'events', type: 'WEBHOOK' },
  { name: 'records', type: 'WEBHOOK' },
  { name: DEMO_STREAM, type: 'STREAM' },
] as const;

/** The event types and destinations of each topic. Records go to the destination of their read object instead. */
export const DEMO_ROUTES = [
  {
    topic: 'connections',
    destinations: ['events', DEMO_STREAM],
    eventTypes: [
      'CONNECTION_CREATED',
      'CONNECTION_UPDATED',
      'CONNECTION_REFRESHED',
      'CONNECTION_ERROR',
      'CONNECTION_DELETED',
    ],
  },
  {
    topic: 'installations',
    destinations: ['events', DEMO_STREAM],
    eventTypes: ['INSTALLATION_CREATED', 'INSTALLATION_UPDATED', 'INSTALLATION_DELETED'],
  },
  {
    topic: 'data',
    destinations: ['records', DEMO_STREAM],
    eventTypes: [
      'READ_BACKFILL_DONE',
      'READ_TRIGGERED_DONE',
      'READ_TRIGGERED_ERROR',
      'READ_SCHEDULE_PAUSED',
      'WRITE_ASYNC_DONE',
    ],
  },
] as const;
