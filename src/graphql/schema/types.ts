/**
 * Declares the object types and their connections. Other files implement them, so that types can refer to each other
 * without import cycles.
 */
import type { InterfaceRef, ObjectRef } from '@pothos/core';
import type { IdTable, Row } from '../../domain/access/scope.ts';
import type { ShownMessage } from '../../domain/events/stream-message.ts';
import { builder, type Types } from './schema-builder.ts';

/** The connections of types, by type. */
const connections = new Map<object, unknown>();

export const Org = createRowType('Org', 'orgs');
export const Invite = createRowType('Invite', 'invites');
export const Builder = createRowType('Builder');
export const Member = createRowType('OrgMember', 'members', 'Member');
export const BillingAccount = createRowType('BillingAccount');
export const ClaimedDomain = createRowType('ClaimedDomain', 'claimed domains');
export const Project = createRowType('Project', 'projects');
export const ApiKey = createRowType('ApiKey', 'API keys');
export const JwtKey = createRowType('JwtKey', 'JWT keys');
export const ProviderApp = createRowType('ProviderApp', 'provider apps');
export const CustomProvider = createRowType('CustomProvider', 'custom providers');
export const Group = createRowType('Group', 'groups');
export const Consumer = createRowType('Consumer', 'consumers');
/** The reference API's connection. Relay reserves names that end in "Connection". */
export const ConnectedAccount = createRowType('Connection', 'connections', 'ConnectedAccount');
export const Integration = createRowType('Integration', 'integrations');
export const Revision = createRowType('Revision', 'revisions');
export const Plan = createRowType('Plan');
export const Installation = createRowType('Installation', 'installations');
export const InstallationConfig = createRowType('InstallationConfig');
export const AgentSession = createRowType('AgentSession', 'agent sessions');
export const Proposal = createRowType('Proposal', 'proposals');
export const Operation = createRowType('Operation', 'operations');
export const RecordedRequest = createRowType('RecordedRequest', 'recorded requests');
export const Topic = createRowType('Topic', 'topics');
export const Destination = createRowType('Destination', 'destinations');
export const EventTopicRoute = createRowType('EventTopicRoute', 'routes of events to topics');
export const TopicDestinationRoute = createRowType(
  'TopicDestinationRoute',
  'routes of topics to destinations',
);
/** The interface of all event types, which graphql/events/typed-events.ts implements. */
export const NotificationEvent =
  builder.interfaceRef<Row<'NotificationEvent'>>('NotificationEvent');
export const Delivery = createRowType('Delivery', 'deliveries');
export const StreamMessage = builder.objectRef<ShownMessage>('StreamMessage');

/** An event with its cursor. Lists and subscriptions share the type. */
export const NotificationEventEdge = createEdge(NotificationEvent, 'notification events');
addConnection(NotificationEvent, 'notification events', NotificationEventEdge);
/** A stream message with its cursor. Lists and subscriptions share the type. */
export const StreamMessageEdge = createEdge(StreamMessage, 'messages of a stream');
addConnection(StreamMessage, 'messages of a stream', StreamMessageEdge);

type OutputRef<T> = ObjectRef<Types, T> | InterfaceRef<Types, T>;

/** Creates the type of the rows of a table. `plural` describes its lists. A type without it has no lists. */
function createRowType<T extends IdTable | 'OrgMember'>(
  table: T,
  plural?: string,
  name: string = table,
) {
  const type = builder.objectRef<Row<T>>(name);
  if (plural !== undefined) addConnection(type, plural);
  return type;
}

function createEdge<T extends object>(type: OutputRef<T>, plural: string) {
  const description = `One of the ${plural}, with its position in the list.`;
  return builder.edgeObject({ type, name: `${type.name}Edge`, description });
}

/** Defines the `XConnection` and `XEdge` of a type, which lists of the type return. */
export function addConnection<T extends object>(
  type: OutputRef<T>,
  plural: string,
  edge = createEdge(type, plural),
): void {
  const connection = builder.connectionObject(
    { type, name: `${type.name}Connection`, description: `A page of ${plural}.` },
    edge,
  );
  connections.set(type, connection);
}

/** Returns the connection of a type that `addConnection` defined. */
export function getConnection(type: { name: string }): unknown {
  const connection = connections.get(type);
  if (!connection) throw new Error(`Bug: the type ${type.name} has no connection.`);
  return connection;
}
