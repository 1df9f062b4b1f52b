/** Rules for each endpoint of the reference API: its response, and the GraphQL field that does the same. */
import { createEndpointRules, type EndpointRow } from '../support/conformance/endpoint-rules.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import * as fresh from '../support/conformance/fresh-resources.ts';
import { queryNode } from '../support/conformance/graphql-field.ts';
import type { Section } from '../support/conformance/rule.ts';
import { integrationBody } from './bodies-of-integrations.ts';

const project = '/projects/{projectIdOrName}';
const invites = '/orgs/{orgId}/invites';
const createOrgInput = ({ tenant }: Fixture) => ({ orgId: tenant.orgId });
const createNoInput = () => ({});

const queryOrg = (selection: string) => (fixture: Fixture) =>
  queryNode(fixture.tenant, { id: fixture.tenant.orgId, type: 'Org', selection });
const queryInstallation =
  (selection: string) =>
  ({ tenant, installation: { id } }: Fixture) =>
    queryNode(tenant, { id, type: 'Installation', selection });

const projectEndpoints: EndpointRow[] = [
  {
    request: `POST ${project}/api-keys`,
    status: 201,
    response: 'ApiKey',
    body: () => ({ label: 'CI', scopes: ['read'] }),
    mutation: 'createApiKey',
  },
  {
    request: `DELETE ${project}/api-keys/{apiKey}`,
    status: 204,
    response: null,
    pathParameters: fresh.createApiKey,
    mutation: 'deleteApiKey',
  },
  {
    request: `POST ${project}/connections:generate`,
    status: 201,
    response: 'Connection',
    body: fresh.createConnectionBody,
    mutation: 'generateConnection',
  },
  {
    request: `POST ${project}/provider-apps`,
    status: 200,
    response: 'ProviderApp',
    body: () => fresh.PROVIDER_APP_BODY,
    mutation: 'createProviderApp',
  },
  {
    request: `PATCH ${project}/provider-apps/{providerAppId}`,
    status: 200,
    response: 'ProviderApp',
    pathParameters: fresh.createUnusedProviderApp,
    body: () => ({ updateMask: ['scopes'], providerApp: { scopes: ['a'] } }),
    mutation: 'updateProviderApp',
  },
  {
    request: `DELETE ${project}/provider-apps/{providerAppId}`,
    status: 204,
    response: null,
    pathParameters: fresh.createUnusedProviderApp,
    mutation: 'deleteProviderApp',
  },
  {
    request: `POST ${project}/integrations`,
    status: 201,
    response: null,
    body: integrationBody.createCompleteBody,
    mutation: 'createIntegration',
  },
  {
    request: `GET ${project}/integrations/{integrationId}/installations/{installationId}/operations`,
    status: 200,
    response: 'results and pagination',
    query: queryInstallation('operations { nodes { id } pageInfo { hasNextPage endCursor } }'),
  },
  {
    request: `POST ${project}/integrations/{integrationId}/objects/{objectName}`,
    status: 200,
    response: 'WriteResult',
    pathParameters: () => ({ objectName: 'contacts' }),
    body: () => ({ groupRef: 'acme', type: 'create', record: createMappedContact() }),
    mutation: 'writeRecords',
    extraInput: ({ createWriteInput }) => createWriteInput({}),
  },
  {
    request: `GET ${project}/providers/{provider}/objects/{objectName}/metadata`,
    status: 200,
    response: 'ObjectMetadata',
    pathParameters: () => ({ provider: 'sandbox', objectName: 'contacts' }),
    parameters: 'groupRef=acme',
    query: async ({ tenant, createMetadataQuery }) =>
      (await tenant.query(createMetadataQuery('name'))).objectMetadata,
  },
  {
    request: `POST ${project}/integrations/{integrationId}/installations/{installationId}:pause`,
    status: 204,
    response: null,
    mutation: 'pauseReads',
    extraInput: ({ tenant, installation: { id } }) => ({
      projectIdOrName: tenant.projectName,
      installationId: id,
    }),
  },
];

const orgEndpoints: EndpointRow[] = [
  {
    request: 'POST /projects',
    status: 201,
    response: 'Project',
    usesBuilder: true,
    body: fresh.createProjectBody,
    mutation: 'createProject',
    extraInput: createNoInput,
  },
  {
    request: 'POST /claimed-domains',
    status: 201,
    response: null,
    usesBuilder: true,
    body: fresh.createDomainClaimBody,
    mutation: 'claimDomain',
    extraInput: createNoInput,
  },
  {
    request: `POST ${invites}`,
    status: 201,
    response: 'Invite',
    body: fresh.createInviteBody,
    mutation: 'createInvite',
    extraInput: createOrgInput,
  },
  {
    request: `GET ${invites}`,
    status: 200,
    response: ['Invite'],
    query: queryOrg('invites { nodes { id } }'),
  },
  {
    request: `GET ${invites}/{inviteId}`,
    status: 200,
    response: 'Invite',
    pathParameters: fresh.createInvite,
    async query(fixture) {
      const { inviteId: id } = await fresh.createInvite(fixture);
      return queryNode(fixture.tenant, { id, type: 'Invite', selection: 'invitedEmail' });
    },
  },
  {
    request: `DELETE ${invites}/{inviteId}`,
    status: 204,
    response: null,
    pathParameters: fresh.createInvite,
    mutation: 'deleteInvite',
    extraInput: createOrgInput,
  },
  {
    request: 'GET /orgs/{orgId}/builders',
    status: 200,
    response: ['Builder'],
    query: queryOrg('members { nodes { builder { id } } }'),
  },
  {
    request: 'GET /orgs/{orgId}/billingAccount',
    status: 200,
    response: 'BillingAccount',
    query: queryOrg('billingAccount { id }'),
  },
];

const routeEndpoints: EndpointRow[] = [
  {
    request: `POST ${project}/topic-destination-routes`,
    status: 201,
    response: 'TopicDestinationRoute',
    body: fresh.createTopicRouteBody,
    mutation: 'createTopicDestinationRoute',
  },
  {
    request: `GET ${project}/topic-destination-routes`,
    status: 200,
    response: ['TopicDestinationRoute'],
    query: ({ tenant }) =>
      queryNode(tenant, {
        id: tenant.projectId,
        type: 'Project',
        selection: 'topicDestinationRoutes { nodes { id } }',
      }),
  },
  {
    request: `DELETE ${project}/topic-destination-routes/{routeId}`,
    status: 204,
    response: null,
    pathParameters: fresh.createTopicRoute,
    mutation: 'deleteTopicDestinationRoute',
  },
  {
    request: `POST ${project}/notification-event-topic-routes`,
    status: 201,
    response: 'NotificationEventTopicRoute',
    body: fresh.createEventRouteBody,
    mutation: 'createEventTopicRoute',
  },
  {
    request: `DELETE ${project}/notification-event-topic-routes/{routeId}`,
    status: 204,
    response: null,
    pathParameters: fresh.createEventRoute,
    mutation: 'deleteEventTopicRoute',
  },
];

export const endpoints: Section[] = [
  {
    title: 'Endpoints',
    rules: createEndpointRules([...projectEndpoints, ...orgEndpoints, ...routeEndpoints]),
  },
];
