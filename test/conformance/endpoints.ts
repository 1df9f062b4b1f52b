/** Every endpoint of the reference API with its response, and the GraphQL field that does the same. */
import { type EndpointRow, endpointRules } from '../support/conformance/endpoint-rules.ts';
import * as fresh from '../support/conformance/fresh.ts';
import { nodeOf } from '../support/conformance/graphql-field.ts';
import { mappedContact } from '../support/conformance/makings.ts';
import type { Section } from '../support/conformance/rule.ts';
import type { Scene } from '../support/conformance/scene.ts';
import { integrationBody } from './bodies-of-integrations.ts';

const project = '/projects/{projectIdOrName}';
const invites = '/orgs/{orgId}/invites';
const inOrg = ({ tenant }: Scene) => ({ orgId: tenant.orgId });
const inNothing = () => ({});

const ofOrg = (selection: string) => (scene: Scene) =>
  nodeOf(scene.tenant, { id: scene.tenant.orgId, type: 'Org', selection });
const ofInstallation =
  (selection: string) =>
  ({ tenant, installation: { id } }: Scene) =>
    nodeOf(tenant, { id, type: 'Installation', selection });

const inProjects: EndpointRow[] = [
  {
    request: `POST ${project}/api-keys`,
    status: 201,
    answer: 'ApiKey',
    body: () => ({ label: 'CI', scopes: ['read'] }),
    mutation: 'createApiKey',
  },
  {
    request: `DELETE ${project}/api-keys/{apiKey}`,
    status: 204,
    answer: null,
    places: fresh.freshKey,
    mutation: 'deleteApiKey',
  },
  {
    request: `POST ${project}/connections:generate`,
    status: 201,
    answer: 'Connection',
    body: fresh.connecting,
    mutation: 'generateConnection',
  },
  {
    request: `POST ${project}/provider-apps`,
    status: 200,
    answer: 'ProviderApp',
    body: () => fresh.APP_BODY,
    mutation: 'createProviderApp',
  },
  {
    request: `PATCH ${project}/provider-apps/{providerAppId}`,
    status: 200,
    answer: 'ProviderApp',
    places: fresh.freshApp,
    body: () => ({ updateMask: ['scopes'], providerApp: { scopes: ['a'] } }),
    mutation: 'updateProviderApp',
  },
  {
    request: `DELETE ${project}/provider-apps/{providerAppId}`,
    status: 204,
    answer: null,
    places: fresh.freshApp,
    mutation: 'deleteProviderApp',
  },
  {
    request: `POST ${project}/integrations`,
    status: 201,
    answer: null,
    body: integrationBody.whole,
    mutation: 'createIntegration',
  },
  {
    request: `GET ${project}/integrations/{integrationId}/installations/{installationId}/operations`,
    status: 200,
    answer: 'results and pagination',
    query: ofInstallation('operations { nodes { id } pageInfo { hasNextPage endCursor } }'),
  },
  {
    request: `POST ${project}/integrations/{integrationId}/objects/{objectName}`,
    status: 200,
    answer: 'WriteResult',
    places: () => ({ objectName: 'contacts' }),
    body: () => ({ groupRef: 'acme', type: 'create', record: mappedContact() }),
    mutation: 'writeRecords',
    beside: ({ graphqlWrite }) => graphqlWrite({}),
  },
  {
    request: `GET ${project}/providers/{provider}/objects/{objectName}/metadata`,
    status: 200,
    answer: 'ObjectMetadata',
    places: () => ({ provider: 'sandbox', objectName: 'contacts' }),
    parameters: 'groupRef=acme',
    query: async ({ tenant, metadataQuery }) =>
      (await tenant.query(metadataQuery('name'))).objectMetadata,
  },
  {
    request: `POST ${project}/integrations/{integrationId}/installations/{installationId}:pause`,
    status: 204,
    answer: null,
    mutation: 'pauseReads',
    beside: ({ tenant, installation: { id } }) => ({
      projectIdOrName: tenant.projectName,
      installationId: id,
    }),
  },
];

const aboutOrgs: EndpointRow[] = [
  {
    request: 'POST /projects',
    status: 201,
    answer: 'Project',
    isBuilders: true,
    body: fresh.newProject,
    mutation: 'createProject',
    beside: inNothing,
  },
  {
    request: 'POST /claimed-domains',
    status: 201,
    answer: null,
    isBuilders: true,
    body: fresh.claim,
    mutation: 'claimDomain',
    beside: inNothing,
  },
  {
    request: `POST ${invites}`,
    status: 201,
    answer: 'Invite',
    body: fresh.newInvite,
    mutation: 'createInvite',
    beside: inOrg,
  },
  {
    request: `GET ${invites}`,
    status: 200,
    answer: ['Invite'],
    query: ofOrg('invites { nodes { id } }'),
  },
  {
    request: `GET ${invites}/{inviteId}`,
    status: 200,
    answer: 'Invite',
    places: fresh.freshInvite,
    async query(scene) {
      const { inviteId: id } = await fresh.freshInvite(scene);
      return nodeOf(scene.tenant, { id, type: 'Invite', selection: 'invitedEmail' });
    },
  },
  {
    request: `DELETE ${invites}/{inviteId}`,
    status: 204,
    answer: null,
    places: fresh.freshInvite,
    mutation: 'deleteInvite',
    beside: inOrg,
  },
  {
    request: 'GET /orgs/{orgId}/builders',
    status: 200,
    answer: ['Builder'],
    query: ofOrg('builders { nodes { id } }'),
  },
  {
    request: 'GET /orgs/{orgId}/billingAccount',
    status: 200,
    answer: 'BillingAccount',
    query: ofOrg('billingAccount { id }'),
  },
];

const ofRoutes: EndpointRow[] = [
  {
    request: `POST ${project}/topic-destination-routes`,
    status: 201,
    answer: 'TopicDestinationRoute',
    body: fresh.topicRoute,
    mutation: 'createTopicDestinationRoute',
  },
  {
    request: `GET ${project}/topic-destination-routes`,
    status: 200,
    answer: ['TopicDestinationRoute'],
    query: ({ tenant }) =>
      nodeOf(tenant, {
        id: tenant.projectId,
        type: 'Project',
        selection: 'topicDestinationRoutes { nodes { id } }',
      }),
  },
  {
    request: `DELETE ${project}/topic-destination-routes/{routeId}`,
    status: 204,
    answer: null,
    places: fresh.freshTopicRoute,
    mutation: 'deleteTopicDestinationRoute',
  },
  {
    request: `POST ${project}/notification-event-topic-routes`,
    status: 201,
    answer: 'NotificationEventTopicRoute',
    body: fresh.eventRoute,
    mutation: 'createEventTopicRoute',
  },
  {
    request: `DELETE ${project}/notification-event-topic-routes/{routeId}`,
    status: 204,
    answer: null,
    places: fresh.freshEventRoute,
    mutation: 'deleteEventTopicRoute',
  },
];

export const endpoints: Section[] = [
  { title: 'Endpoints', rules: endpointRules([...inProjects, ...aboutOrgs, ...ofRoutes]) },
];
