/** All endpoints, in the order of the OpenAPI document. */
import { activityEndpoints } from './activity/activity.ts';
import { agentSessionEndpoints } from './agent/agent-session.ts';
import { accountObjectEndpoints } from './connection/account-objects.ts';
import { connectionEndpoints } from './connection/connection.ts';
import { oauthConnectEndpoints } from './connection/oauth-connect.ts';
import { contractEndpoints } from './contract/object-contract.ts';
import { recordedRequestEndpoints } from './diagnosis/recorded-request.ts';
import type { Endpoint } from './endpoint/endpoint.ts';
import { deliveryEndpoints } from './event/delivery.ts';
import { destinationEndpoints } from './event/destination.ts';
import { eventTopicRouteEndpoints } from './event/event-topic-route.ts';
import { notificationEventEndpoints } from './event/notification-event.ts';
import { topicEndpoints } from './event/topic.ts';
import { topicDestinationRouteEndpoints } from './event/topic-destination-route.ts';
import { installationEndpoints } from './installation/installation.ts';
import { objectFieldsEndpoints } from './installation/object-fields.ts';
import { objectMetadataEndpoints } from './installation/object-metadata.ts';
import { hydratedRevisionEndpoint } from './integration/hydrated-revision.ts';
import { integrationEndpoints } from './integration/integration.ts';
import { uploadUrlEndpoint } from './integration/manifest.ts';
import { revisionEndpoints } from './integration/revision.ts';
import { backfillProgressEndpoint, operationEndpoints } from './operation/operation.ts';
import { readEndpoints } from './operation/reads.ts';
import { searchEndpoint } from './operation/record-search.ts';
import { writeEndpoints } from './operation/write-records.ts';
import { billingAccountEndpoints } from './org/billing-account.ts';
import { builderEndpoints } from './org/builder.ts';
import { claimedDomainEndpoints } from './org/claimed-domain.ts';
import { inviteEndpoints } from './org/invite.ts';
import { orgEndpoints } from './org/org.ts';
import { planEndpoints } from './plan/plan.ts';
import { apiKeyEndpoints } from './project/api-key.ts';
import { jwtKeyEndpoints } from './project/jwt-key.ts';
import { consumerEndpoints, groupEndpoints } from './project/parties.ts';
import { projectEndpoints } from './project/project.ts';
import { sessionTokenEndpoints } from './project/session-token.ts';
import { proposalEndpoints } from './proposal/proposal.ts';
import { providerEndpoints } from './provider/provider.ts';
import { providerAppEndpoints } from './provider/provider-app.ts';

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
  ...topicEndpoints,
  ...destinationEndpoints,
  ...eventTopicRouteEndpoints,
  ...topicDestinationRouteEndpoints,
  ...notificationEventEndpoints,
  ...deliveryEndpoints,
  ...activityEndpoints,
];
