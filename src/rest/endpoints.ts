/** All endpoints, in the order of the OpenAPI document. */

import { agentSessionEndpoints } from './agents/agent-session.ts';
import { proposalEndpoints } from './agents/proposal.ts';
import { accountObjectEndpoints } from './connections/connection/account-objects.ts';
import { connectionEndpoints } from './connections/connection/connection.ts';
import { oauthConnectEndpoints } from './connections/connection/oauth-connect.ts';
import { providerTestEndpoints } from './connections/diagnosis/provider-test.ts';
import { recordedRequestEndpoints } from './connections/diagnosis/recorded-request.ts';
import { providerEndpoints } from './connections/provider/provider.ts';
import { providerAppEndpoints } from './connections/provider/provider-app.ts';
import { contractEndpoints } from './data/contract/object-contract.ts';
import { backfillProgressEndpoint, operationEndpoints } from './data/operation/operation.ts';
import { readEndpoints } from './data/operation/reads.ts';
import { searchEndpoint } from './data/operation/record-search.ts';
import { writeEndpoints } from './data/operation/write-records.ts';
import type { Endpoint } from './endpoint/endpoint.ts';
import { deliveryEndpoints } from './events/delivery.ts';
import { destinationEndpoints } from './events/destination.ts';
import { eventTopicRouteEndpoints } from './events/event-topic-route.ts';
import { notificationEventEndpoints } from './events/notification-event.ts';
import { topicEndpoints } from './events/topic.ts';
import { topicDestinationRouteEndpoints } from './events/topic-destination-route.ts';
import { customProviderEndpoints } from './integrations/custom-provider/custom-provider.ts';
import { installationEndpoints } from './integrations/installation/installation.ts';
import { objectFieldsEndpoints } from './integrations/installation/object-fields.ts';
import { objectMetadataEndpoints } from './integrations/installation/object-metadata.ts';
import { hydratedRevisionEndpoint } from './integrations/integration/hydrated-revision.ts';
import { integrationEndpoints } from './integrations/integration/integration.ts';
import { uploadUrlEndpoint } from './integrations/integration/manifest.ts';
import { revisionEndpoints } from './integrations/integration/revision.ts';
import { activityEndpoints } from './overview/activity.ts';
import { planEndpoints } from './plan/plan.ts';
import { billingAccountEndpoints } from './tenants/org/billing-account.ts';
import { builderEndpoints } from './tenants/org/builder.ts';
import { claimedDomainEndpoints } from './tenants/org/claimed-domain.ts';
import { inviteEndpoints } from './tenants/org/invite.ts';
import { orgEndpoints } from './tenants/org/org.ts';
import { apiKeyEndpoints } from './tenants/project/api-key.ts';
import { jwtKeyEndpoints } from './tenants/project/jwt-key.ts';
import { consumerEndpoints, groupEndpoints } from './tenants/project/parties.ts';
import { projectEndpoints } from './tenants/project/project.ts';
import { sessionTokenEndpoints } from './tenants/project/session-token.ts';

export const ENDPOINTS: Endpoint[] = [
  ...orgEndpoints,
  ...builderEndpoints,
  ...billingAccountEndpoints,
  ...inviteEndpoints,
  ...claimedDomainEndpoints,
  ...projectEndpoints,
  ...apiKeyEndpoints,
  ...sessionTokenEndpoints,
  ...jwtKeyEndpoints,
  ...groupEndpoints,
  ...consumerEndpoints,
  ...providerEndpoints,
  ...providerAppEndpoints,
  ...connectionEndpoints,
  ...accountObjectEndpoints,
  ...oauthConnectEndpoints,
  ...objectMetadataEndpoints,
  ...objectFieldsEndpoints,
  ...integrationEndpoints,
  ...revisionEndpoints,
  ...planEndpoints,
  hydratedRevisionEndpoint,
  ...contractEndpoints,
  uploadUrlEndpoint,
  ...installationEndpoints,
  backfillProgressEndpoint,
  ...writeEndpoints,
  ...readEndpoints,
  searchEndpoint,
  ...operationEndpoints,
  ...recordedRequestEndpoints,
  ...agentSessionEndpoints,
  ...proposalEndpoints,
  ...customProviderEndpoints,
  ...providerTestEndpoints,
  ...topicEndpoints,
  ...destinationEndpoints,
  ...eventTopicRouteEndpoints,
  ...topicDestinationRouteEndpoints,
  ...notificationEventEndpoints,
  ...deliveryEndpoints,
  ...activityEndpoints,
];
