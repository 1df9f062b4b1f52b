/**
 * Declares the object types and their connections. Other files implement them, so that types can refer to each other
 * without import cycles.
 */
import type { InterfaceRef, ObjectRef } from '@pothos/core';
import type { ShownMessage } from '../../domain/event/stream-message.ts';
import type { IdTable, Row } from '../../domain/scope.ts';
import { builder, type Types } from './schema-builder.ts';

export const Org = createRowType('Org');
export const Invite = createRowType('Invite');
export const Builder = createRowType('Builder');
export const Member = builder.objectRef<Row<'OrgMember'>>('Member');
export const BillingAccount = createRowType('BillingAccount');
export const ClaimedDomain = createRowType('ClaimedDomain');
export const Project = createRowType('Project');
export const ApiKey = createRowType('ApiKey');
export const JwtKey = createRowType('JwtKey');
export const ProviderApp = createRowType('ProviderApp');
export const Group = createRowType('Group');
export const Consumer = createRowType('Consumer');
/** The reference API's connection. Relay reserves names that end in "Connection". */
export const ConnectedAccount = builder.objectRef<Row<'Connection'>>('ConnectedAccount');
export const Integration = createRowType('Integration');
export const Revision = createRowType('Revision');
export const Plan = createRowType('Plan');
export const Installation = createRowType('Installation');
export const InstallationConfig = createRowType('InstallationConfig');
export const AgentSession = createRowType('AgentSession');
export const Proposal = createRowType('Proposal');
export const Operation = createRowType('Operation');
export const RecordedRequest = createRowType('RecordedRequest');
export const Topic = createRowType('Topic');
export const Destination = createRowType('Destination');
export const EventTopicRoute = createRowType('EventTopicRoute');
export const TopicDestinationRoute = createRowType('TopicDestinationRoute');
/** The interface of all event types, which graphql/event/typed-events.ts implements. */
export const NotificationEvent =
  builder.interfaceRef<Row<'NotificationEvent'>>('NotificationEvent');
export const Delivery = createRowType('Delivery');
export const StreamMessage = builder.objectRef<ShownMessage>('StreamMessage');

export const Orgs = createConnection(Org, 'orgs');
export const Invites = createConnection(Invite, 'invites');
export const Builders = createConnection(Builder, 'builders');
export const Members = createConnection(Member, 'members');
export const ClaimedDomains = createConnection(ClaimedDomain, 'claimed domains');
export const Projects = createConnection(Project, 'projects');
export const ApiKeys = createConnection(ApiKey, 'API keys');
export const JwtKeys = createConnection(JwtKey, 'JWT keys');
export const ProviderApps = createConnection(ProviderApp, 'provider apps');
export const Groups = createConnection(Group, 'groups');
export const Consumers = createConnection(Consumer, 'consumers');
export const ConnectedAccounts = createConnection(ConnectedAccount, 'connections');
export const Integrations = createConnection(Integration, 'integrations');
export const Revisions = createConnection(Revision, 'revisions');
export const Installations = createConnection(Installation, 'installations');
export const AgentSessions = createConnection(AgentSession, 'agent sessions');
export const Proposals = createConnection(Proposal, 'proposals');
export const Operations = createConnection(Operation, 'operations');
export const RecordedRequests = createConnection(RecordedRequest, 'recorded requests');
export const Topics = createConnection(Topic, 'topics');
export const Destinations = createConnection(Destination, 'destinations');
export const EventTopicRoutes = createConnection(EventTopicRoute, 'routes of events to topics');
export const TopicDestinationRoutes = createConnection(
  TopicDestinationRoute,
  'routes of topics to destinations',
);
/** An event with its cursor. Lists and subscriptions share the type. */
export const NotificationEventEdge = createEdge(NotificationEvent, 'notification events');
export const NotificationEvents = createConnection(
  NotificationEvent,
  'notification events',
  NotificationEventEdge,
);
export const Deliveries = createConnection(Delivery, 'deliveries');
/** A stream message with its cursor. Lists and subscriptions share the type. */
export const StreamMessageEdge = createEdge(StreamMessage, 'messages of a stream');
export const StreamMessages = createConnection(
  StreamMessage,
  'messages of a stream',
  StreamMessageEdge,
);

type OutputRef<T> = ObjectRef<Types, T> | InterfaceRef<Types, T>;

function createRowType<T extends IdTable>(table: T) {
  return builder.objectRef<Row<T>>(table);
}

function createEdge<T extends object>(type: OutputRef<T>, plural: string) {
  const description = `One of the ${plural}, with its position in the list.`;
  return builder.edgeObject({ type, name: `${type.name}Edge`, description });
}

/** Defines the `XConnection` and `XEdge` of a type. */
export function createConnection<T extends object>(
  type: OutputRef<T>,
  plural: string,
  edge = createEdge(type, plural),
) {
  const connection = builder.connectionObject(
    { type, name: `${type.name}Connection`, description: `A page of ${plural}.` },
    edge,
  );
  return [type, connection] as const;
}
