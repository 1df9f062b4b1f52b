/**
 * Requests of the reference API's published UI library (npm @amp-labs/react 2.16.1, MIT), in the order in which its
 * components send them, with the response members that they read. `{name}` stands for a value of the test or of an
 * earlier response.
 */
import { expect } from 'vitest';

const ANY_ID = expect.any(String);
const ANY_TEXT = expect.any(String);

export interface RecordedRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: object;
  status: number;
  /** Members of the response that the library reads. */
  reads?: unknown;
  /** Values for later requests, by their names: each with its path in the response. */
  keeps?: Record<string, (string | number)[]>;
}

/** The popup of an OAuth flow: the person approves or declines, and the popup sends a message to the page. */
export interface Popup {
  /** Name of the kept value that is the URL. */
  opens: string;
  person: 'approves' | 'declines';
  /** The host of the provider's consent page. Default: not checked. */
  host?: string;
  message: object;
}

export interface UserStep {
  title: string;
  requests: (RecordedRequest | Popup)[];
}

const PROJECT_PATH = '/projects/{project}';
const INTEGRATION_PATH = `${PROJECT_PATH}/integrations/{integrationId}`;
const INSTALLATION_PATH = `${INTEGRATION_PATH}/installations/{installationId}`;
const CONNECTION_PATH = `${PROJECT_PATH}/connections/{connectionId}`;

const getProject: RecordedRequest = {
  method: 'GET',
  path: PROJECT_PATH,
  status: 200,
  reads: { id: ANY_ID, name: ANY_TEXT, appName: ANY_TEXT },
};

/** Requests the entitlements, which decide whether the footer shows the brand. */
const getEntitlements: RecordedRequest = {
  ...getProject,
  query: { includeEntitlements: 'true' },
  reads: { entitlements: { brandingRemoval: { value: expect.any(Boolean) } } },
};

const listIntegrations: RecordedRequest = {
  method: 'GET',
  path: `${PROJECT_PATH}/integrations`,
  status: 200,
  reads: [
    {
      id: ANY_ID,
      name: 'crm',
      provider: 'sandbox',
      latestRevision: { id: ANY_ID, content: { provider: 'sandbox' } },
    },
  ],
  keeps: { integrationId: [0, 'id'], revisionId: [0, 'latestRevision', 'id'] },
};

const listInstallations = (reads: unknown[]): RecordedRequest => ({
  method: 'GET',
  path: `${INTEGRATION_PATH}/installations`,
  query: { groupRef: 'acme' },
  status: 200,
  reads,
});

const listConnections = (provider: string, reads: unknown[]): RecordedRequest => ({
  method: 'GET',
  path: `${PROJECT_PATH}/connections`,
  query: { provider, groupRef: 'acme' },
  status: 200,
  reads,
});

const getProvider = (provider: string, reads: object): RecordedRequest => ({
  method: 'GET',
  path: `/providers/${provider}`,
  status: 200,
  reads: { name: provider, displayName: ANY_TEXT, ...reads },
});

const hydrateRevision: RecordedRequest = {
  method: 'GET',
  path: `${INTEGRATION_PATH}/revisions/{revisionId}:hydrate`,
  query: { connectionId: '{connectionId}' },
  status: 200,
  reads: {
    id: ANY_ID,
    content: {
      provider: 'sandbox',
      read: {
        objects: [
          {
            objectName: 'contacts',
            displayName: ANY_TEXT,
            requiredFields: [
              { fieldName: 'email', displayName: 'Email' },
              { mapToName: 'owner', mapToDisplayName: 'Owner', prompt: 'Who owns it?' },
            ],
            optionalFields: [{ fieldName: 'phone', displayName: 'Phone' }],
            allFieldsMetadata: { lastname: { fieldName: 'lastname', displayName: ANY_TEXT } },
          },
        ],
      },
      write: { objects: [{ objectName: 'deals', displayName: ANY_TEXT }] },
    },
  },
};

const PARTIES = {
  groupRef: 'acme',
  groupName: 'Acme Inc.',
  consumerRef: 'ann',
  consumerName: 'Ann Lee',
};
const connectionOwner = {
  group: { groupRef: 'acme', groupName: 'Acme Inc.' },
  consumer: { consumerRef: 'ann', consumerName: 'Ann Lee' },
};
const keyConnection = {
  id: ANY_ID,
  projectId: ANY_ID,
  provider: 'sandbox',
  authScheme: 'apiKey',
  status: ANY_TEXT,
  ...connectionOwner,
};

const connectByKey: RecordedRequest = {
  method: 'POST',
  path: `${PROJECT_PATH}/connections:generate`,
  body: { ...PARTIES, provider: 'sandbox', apiKey: 'sandbox-key', providerMetadata: {} },
  status: 201,
  reads: keyConnection,
};

const findKeyConnection: RecordedRequest = {
  ...listConnections('sandbox', [keyConnection]),
  keeps: { connectionId: [0, 'id'] },
};

const uninstall: UserStep = {
  title: 'uninstalls',
  requests: [
    { method: 'DELETE', path: INSTALLATION_PATH, status: 204 },
    listInstallations([]),
    listConnections('sandbox', [keyConnection]),
  ],
};

const deleteConnection: RecordedRequest = { method: 'DELETE', path: CONNECTION_PATH, status: 204 };

/** The choices for contacts, as the form sends them. */
const contacts = {
  objectName: 'contacts',
  selectedFields: { phone: true },
  selectedFieldMappings: { owner: 'lastname' },
  dynamicMappingsInput: [],
  selectedValueMappings: {},
};

const installedContacts = {
  objectName: 'contacts',
  selectedFields: { phone: true },
  selectedFieldMappings: { owner: 'lastname' },
};

const createInstallationResponse = (content: object) => ({
  id: ANY_ID,
  projectId: ANY_ID,
  integrationId: ANY_ID,
  healthStatus: ANY_TEXT,
  createdBy: ANY_TEXT,
  group: { groupRef: 'acme' },
  connection: { id: ANY_ID, provider: 'sandbox' },
  config: { id: ANY_ID, revisionId: ANY_ID, createdBy: ANY_TEXT, content },
});

const contactsInstallation = createInstallationResponse({
  provider: 'sandbox',
  read: { objects: { contacts: installedContacts } },
});

export const keySteps: UserStep[] = [
  {
    title: 'opens the page that installs',
    requests: [
      getProject,
      listIntegrations,
      listInstallations([]),
      listConnections('sandbox', []),
      getProvider('sandbox', { authType: 'apiKey' }),
      getEntitlements,
    ],
  },
  {
    title: 'enters a wrong key',
    requests: [
      {
        ...connectByKey,
        body: { ...PARTIES, provider: 'sandbox', apiKey: 'wrong', providerMetadata: {} },
        status: 422,
        reads: { detail: ANY_TEXT },
      },
      listConnections('sandbox', []),
    ],
  },
  { title: 'connects by key', requests: [connectByKey, findKeyConnection] },
  { title: 'chooses fields and mappings', requests: [hydrateRevision] },
  {
    title: 'installs',
    requests: [
      {
        method: 'POST',
        path: `${INTEGRATION_PATH}/installations`,
        body: {
          groupRef: 'acme',
          connectionId: '{connectionId}',
          config: { content: { provider: 'sandbox', read: { objects: { contacts } } } },
        },
        status: 201,
        reads: contactsInstallation,
      },
      {
        ...listInstallations([contactsInstallation]),
        keeps: { installationId: [0, 'id'], content: [0, 'config', 'content'] },
      },
    ],
  },
  {
    title: 'changes a mapping',
    requests: [
      {
        method: 'PATCH',
        path: INSTALLATION_PATH,
        body: {
          updateMask: ['config.content.read.objects.contacts'],
          installation: {
            config: {
              content: {
                read: {
                  objects: {
                    contacts: {
                      ...contacts,
                      selectedFields: {},
                      selectedFieldMappings: { owner: 'firstname' },
                    },
                  },
                },
              },
            },
          },
        },
        status: 200,
        reads: createInstallationResponse({
          read: { objects: { contacts: { selectedFieldMappings: { owner: 'firstname' } } } },
        }),
      },
    ],
  },
  {
    title: 'saves the configuration that the response had',
    requests: [
      {
        method: 'PATCH',
        path: INSTALLATION_PATH,
        body: {
          updateMask: ['config.content.read.objects.contacts'],
          installation: { config: { content: '{content}' } },
        },
        status: 200,
        reads: contactsInstallation,
      },
    ],
  },
  {
    title: 'enables writing',
    requests: [
      {
        method: 'PATCH',
        path: INSTALLATION_PATH,
        body: {
          updateMask: ['config.content.write.objects'],
          installation: {
            config: { content: { write: { objects: { deals: { objectName: 'deals' } } } } },
          },
        },
        status: 200,
        reads: createInstallationResponse({
          read: { objects: { contacts: installedContacts } },
          write: { objects: { deals: { objectName: 'deals' } } },
        }),
      },
    ],
  },
  {
    title: 'pauses the reads of an object',
    requests: [
      {
        method: 'PATCH',
        path: INSTALLATION_PATH,
        body: {
          updateMask: ['config.content.read.objects.contacts.disabled'],
          installation: {
            config: { content: { read: { objects: { contacts: { disabled: true } } } } },
          },
        },
        status: 200,
        reads: createInstallationResponse({
          read: { objects: { contacts: { ...installedContacts, disabled: true } } },
        }),
      },
      listInstallations([
        createInstallationResponse({ write: { objects: { deals: { objectName: 'deals' } } } }),
      ]),
    ],
  },
  {
    title: 'enters a wrong key, and then a valid one',
    requests: [
      {
        method: 'PATCH',
        path: CONNECTION_PATH,
        body: { updateMask: ['apiKey'], connection: { apiKey: 'wrong' } },
        status: 422,
        reads: { detail: ANY_TEXT },
      },
      {
        method: 'PATCH',
        path: CONNECTION_PATH,
        body: { updateMask: ['apiKey'], connection: { apiKey: 'sandbox-key' } },
        status: 200,
        reads: keyConnection,
      },
    ],
  },
  {
    title: 'tries to remove a connection that is in use',
    requests: [{ ...deleteConnection, status: 409, reads: { detail: ANY_TEXT } }],
  },
  uninstall,
  {
    title: 'installs again with the wizard',
    requests: [
      hydrateRevision,
      {
        method: 'POST',
        path: `${INTEGRATION_PATH}/installations`,
        body: {
          groupRef: 'acme',
          connectionId: '{connectionId}',
          config: {
            content: {
              provider: 'sandbox',
              read: { objects: { contacts: { ...installedContacts, disabled: false } } },
              write: { objects: { deals: { objectName: 'deals' } } },
            },
          },
        },
        status: 201,
        reads: createInstallationResponse({
          read: { objects: { contacts: installedContacts } },
          write: { objects: { deals: { objectName: 'deals' } } },
        }),
        keeps: { installationId: ['id'] },
      },
    ],
  },
  uninstall,
  {
    title: 'removes the connection',
    requests: [deleteConnection, listConnections('sandbox', [])],
  },
];

/** The library installs an integration without choices as soon as the account is connected. */
export const stepsWithoutChoices: UserStep[] = [
  {
    title: 'connects by key',
    requests: [
      getProject,
      listIntegrations,
      listConnections('sandbox', []),
      connectByKey,
      findKeyConnection,
    ],
  },
  {
    title: 'installs without a form',
    requests: [
      {
        ...hydrateRevision,
        reads: { content: { provider: 'sandbox', proxy: { enabled: true } } },
      },
      {
        method: 'POST',
        path: `${INTEGRATION_PATH}/installations`,
        body: {
          groupRef: 'acme',
          connectionId: '{connectionId}',
          config: { content: { provider: 'sandbox', proxy: { enabled: true } } },
        },
        status: 201,
        reads: createInstallationResponse({ provider: 'sandbox', proxy: { enabled: true } }),
        keeps: { installationId: ['id'] },
      },
    ],
  },
  uninstall,
];

const oauthConnection = {
  id: ANY_ID,
  projectId: ANY_ID,
  provider: 'hubspot',
  authScheme: 'oauth2/authorizationCode',
  status: ANY_TEXT,
  ...connectionOwner,
};

const startConnect: RecordedRequest = {
  method: 'POST',
  path: '/oauth-connect',
  body: {
    ...PARTIES,
    provider: 'hubspot',
    projectIdOrName: '{project}',
    providerMetadata: {},
    enableCSRFProtection: false,
  },
  status: 200,
  reads: expect.stringMatching(/^https?:/),
  keeps: { popupUrl: [] },
};

const successMessage = { eventType: 'AUTHORIZATION_SUCCEEDED', data: { connection: ANY_ID } };

export const oauthSteps: UserStep[] = [
  {
    title: 'opens the page that connects',
    requests: [
      getProject,
      listConnections('hubspot', []),
      getProvider('hubspot', {
        authType: 'oauth2',
        oauth2Opts: { grantType: 'authorizationCode' },
      }),
    ],
  },
  {
    title: 'declines in the popup',
    requests: [
      listConnections('hubspot', []),
      startConnect,
      {
        opens: 'popupUrl',
        person: 'declines',
        message: { eventType: 'AUTHORIZATION_FAILED', data: { error: 'access_denied' } },
      },
      listConnections('hubspot', []),
    ],
  },
  {
    title: 'approves in the popup',
    requests: [
      listConnections('hubspot', []),
      startConnect,
      { opens: 'popupUrl', person: 'approves', message: successMessage },
      { ...listConnections('hubspot', [oauthConnection]), keeps: { connectionId: [0, 'id'] } },
    ],
  },
  {
    title: 're-authenticates the connection',
    requests: [
      {
        // The library sends no body and no content type.
        method: 'PATCH',
        path: `${CONNECTION_PATH}:oauth-update`,
        status: 200,
        reads: expect.stringMatching(/^https?:/),
        keeps: { popupUrl: [] },
      },
      {
        opens: 'popupUrl',
        person: 'approves',
        message: { ...successMessage, data: { connection: '{connectionId}' } },
      },
      listConnections('hubspot', [oauthConnection]),
    ],
  },
  {
    title: 'removes the connection',
    requests: [deleteConnection, listConnections('hubspot', [])],
  },
];

const salesforceConnection = {
  id: ANY_ID,
  provider: 'salesforce',
  providerWorkspaceRef: 'acme',
  // If the member were missing, the library would ask the customer for it again.
  providerMetadata: { workspace: { value: 'acme', source: 'token' } },
  ...connectionOwner,
};

/** Since version 2.15.0, the library's Salesforce page sends a workspace only if the customer enters one. */
export const salesforceSteps: UserStep[] = [
  {
    title: 'opens the page that connects',
    requests: [
      getProject,
      listConnections('salesforce', []),
      getProvider('salesforce', {
        authType: 'oauth2',
        oauth2Opts: { grantType: 'authorizationCodePKCE' },
        metadata: { input: [{ name: 'workspace' }, { name: 'businessUnitId' }] },
      }),
    ],
  },
  {
    title: 'approves in the popup',
    requests: [
      listConnections('salesforce', []),
      {
        ...startConnect,
        body: { ...startConnect.body, provider: 'salesforce' },
      },
      {
        opens: 'popupUrl',
        person: 'approves',
        host: '{loginHost}',
        message: successMessage,
      },
      {
        ...listConnections('salesforce', [salesforceConnection]),
        keeps: { connectionId: [0, 'id'] },
      },
    ],
  },
  {
    title: 're-authenticates the connection at its org',
    requests: [
      {
        method: 'PATCH',
        path: `${CONNECTION_PATH}:oauth-update`,
        status: 200,
        reads: expect.stringMatching(/^https?:/),
        keeps: { popupUrl: [] },
      },
      {
        opens: 'popupUrl',
        person: 'declines',
        host: 'acme.my.salesforce.com',
        message: { eventType: 'AUTHORIZATION_FAILED', data: { error: 'access_denied' } },
      },
      listConnections('salesforce', [salesforceConnection]),
    ],
  },
];

/**
 * The request for the package that a user must install at Salesforce first. Only the page that connects Salesforce sends
 * it. If the gateway refuses the request, the page omits that step.
 */
const providerAppsRequest = { method: 'GET', path: `${PROJECT_PATH}/provider-apps` } as const;

export const listProviderApps: RecordedRequest = {
  ...providerAppsRequest,
  status: 200,
  reads: [
    { id: ANY_ID, provider: 'salesforce' },
    { id: ANY_ID, provider: 'hubspot' },
  ],
};

export const refuseProviderApps: RecordedRequest = {
  ...providerAppsRequest,
  status: 403,
  reads: { detail: ANY_TEXT },
};
