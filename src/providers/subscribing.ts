/** Events that providers send, and how the gateway subscribes to them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from '@grpc/grpc-js';
import type { ProviderSession } from './contract.ts';
import type { ProviderRecord } from './moving-records.ts';

export const PROVIDER_EVENT_KINDS = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'ASSOCIATION_UPDATE',
  'OTHER',
] as const;
export type ProviderEventKind = (typeof PROVIDER_EVENT_KINDS)[number];

/** The two records of an association. An `objectName` is empty if the provider does not name the object. */
export interface ProviderAssociation {
  from: { id: string; objectName: string };
  to: { id: string; objectName: string };
}

export interface ProviderEvent {
  /** The provider's id of the event. A repeated event has the same id. */
  nativeId: string;
  /** The account of the event, as `findAccount` returns it. */
  account: string;
  objectName: string;
  /** Null if the event concerns no record. */
  recordId: string | null;
  kind: ProviderEventKind;
  /** The provider's name of the event type. */
  nativeType: string;
  time: Date;
  /** Fields that an update changed, if the provider lists them. */
  changedFields: string[];
  /** The whole record after the change, if the event carries it. */
  record: ProviderRecord | null;
  association: ProviderAssociation | null;
  /** The event as the provider sent it. */
  raw: Record<string, unknown>;
}

/** A request that claims to come from a provider. */
export interface WebhookRequest {
  method: string;
  /** The URL that the provider called, under the gateway's public address. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes, which signatures cover. */
  body: Buffer;
}

/** A subscription to create at the provider. */
export interface DesiredSubscription {
  objectName: string;
  kinds: readonly ProviderEventKind[];
  otherEvents: readonly string[];
  /** The URL to which the provider sends the events. */
  url: string;
  /** The secret that signs the events. */
  secret: string;
  /** The name of the account in the events. */
  account: string;
}

export interface CreatedSubscription {
  /** The provider's id of the subscription. */
  providerRef: string;
  /** Null if the subscription never expires. */
  expireTime: Date | null;
  /** Secrets that the provider created. Each event is signed with one of them. */
  secrets?: string[];
}

/** Thrown if the body does not have the documented format of the provider's events. */
export class MalformedEventsError extends Error {
  override name = 'MalformedEvents';
}

/** Manages subscriptions by requests to the provider. */
export interface SubscriptionCalls {
  /** True if all installations of a connection share one subscription, which is deleted with the last of them. */
  isShared?: true;
  /** True if subscriptions expire unless they are renewed. */
  expires?: true;
  create(session: ProviderSession, desired: DesiredSubscription): Promise<CreatedSubscription>;
  /** Extends the subscription. Null if the provider no longer has it. */
  renew(session: ProviderSession, providerRef: string): Promise<CreatedSubscription | null>;
  /** Succeeds if the provider no longer has the subscription. */
  delete(session: ProviderSession, providerRef: string): Promise<void>;
}

export interface WebhookResponse {
  status: 200 | 204;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: Record<string, string>;
}

/** The subscription that the URL of a request identifies. */
export interface AddressedSubscription {
  /** The name of the account in its events. */
  account: string;
  objectName: string;
}

/** Facts that parsing a request requires and the request does not contain. */
export interface WebhookContext {
  now: Date;
  /** Null for a provider that signs with the secrets of the app. */
  subscription: AddressedSubscription | null;
}

/** Webhooks: the provider sends its events in requests. */
export interface EventRequests {
  /** True if the provider creates a secret for each subscription. Each subscription then has its own URL. */
  hasOwnSecrets?: true;
  /**
   * Returns the response to a request that verifies the URL before a secret exists. Null for other requests. The request
   * is not authenticated.
   */
  respondToHandshake?: (request: WebhookRequest) => WebhookResponse | null;
  /** True if one of the secrets signed the request recently. Compares in constant time. */
  isSigned(request: WebhookRequest, secrets: readonly string[], now: Date): boolean;
  /**
   * Parses the events. Omits events of unknown types, whatever their form: providers stop sending to a URL that refuses
   * them. Throws MalformedEvents if an event has no type, or has a known type and another form.
   */
  parseEvents(request: WebhookRequest, context: WebhookContext): ProviderEvent[];
  /** The response to an accepted request. One of the secrets signed the request. Default: 204. */
  respond?: (request: WebhookRequest, secrets: readonly string[], now: Date) => WebhookResponse;
  /** True if the provider accepts only responses without a body. Refusals then have none either. */
  requiresEmptyResponses?: true;
}

export interface ProviderStreamStart {
  /** The connection's account, as `findAccount` returns it. */
  account: string;
  /** The position after which the stream starts. Null starts at the present. */
  position: string | null;
  accessToken: string;
  /** The gRPC client of the stream's server. */
  client: Client;
  /** Closes the stream. */
  signal: AbortSignal;
}

export interface TimeSpan {
  since: Date;
  until: Date;
}

/** A time span for which the provider does not report individual changes of an object. */
export interface ProviderStreamGap extends TimeSpan {
  objectName: string;
}

/** A batch of changes. A stream that starts after `position` repeats none of them. */
export interface ProviderStreamBatch {
  events: ProviderEvent[];
  gaps: ProviderStreamGap[];
  position: string;
  /** The time of the last reported change. Null if there is none yet. */
  lastTime: Date | null;
}

/** A stream of events that the gateway follows, one for each connection. */
export interface ProviderEventStream {
  /** The gRPC server, the only host that the stream connects to. */
  url: string;
  /**
   * Resolves when the stream is open, so that no later change is missed. The caller requests the next batch when it has
   * stored the previous ones. Throws ProviderError, also while iterating: AUTH_INVALIDATED if the token is rejected,
   * CURSOR_GONE if the provider no longer knows the position.
   */
  open(
    session: ProviderSession,
    start: ProviderStreamStart,
  ): Promise<AsyncIterable<ProviderStreamBatch>>;
  /** Lists the deletions in a gap of the stream. */
  listDeletions(
    session: ProviderSession,
    span: TimeSpan & { account: string; objectName: string },
  ): Promise<ProviderEvent[]>;
}

/** A created webhook that notifies the gateway of new entries in a list. */
export interface CreatedWebhook {
  /** The provider's id of the webhook. */
  providerRef: string;
  /** The secret that signs its requests. */
  secret: string;
}

export interface ListPosition {
  /** The name of the account in the events. */
  account: string;
  providerRef: string;
  /** The position after which the read starts. Null starts at the first entry that the provider still has. */
  position: string | null;
}

/** The entries that one request returns. */
export interface EntryPage {
  events: ProviderEvent[];
  /** The position after these entries. A read that starts there repeats none of them. */
  position: string;
  hasMore: boolean;
  /** The time of the last reported change. Null if there is none. */
  lastTime: Date | null;
  /** Some changes before this time are missing, because the provider deleted them or cannot express them. */
  incompleteUntil: Date | null;
}

/** A list of changes for each connection, which the gateway reads after a ping from the provider. */
export interface EventList {
  /** True if the secret signed the request. Compares in constant time. */
  isPing(request: WebhookRequest, secret: string, now: Date): boolean;
  /** Creates the webhook, and deletes others with the same URL, whose secrets are lost. */
  createWebhook(session: ProviderSession, url: string): Promise<CreatedWebhook>;
  /** Extends the webhook and restarts it if the provider stopped it. False if the provider no longer has it. */
  renewWebhook(session: ProviderSession, providerRef: string): Promise<boolean>;
  /** Succeeds if the provider no longer has the webhook. */
  deleteWebhook(session: ProviderSession, providerRef: string): Promise<void>;
  /** Reads the entries after a position. Throws ProviderError: CURSOR_GONE if the provider no longer knows the position. */
  read(session: ProviderSession, position: ListPosition): Promise<EntryPage>;
}

export interface SubscribeCapability {
  /** The kinds of events that an integration may subscribe to. */
  kinds: readonly ProviderEventKind[];
  /** The kinds of one object. Default: `kinds`. */
  listKinds?: (objectName: string) => readonly ProviderEventKind[];
  /** The name of a connection's account in the provider's events. Null while it is unknown. */
  findAccount(
    connection: { id: string; providerWorkspaceRef: string | null },
    /** Returns a member of the connection's metadata. */
    findMetadata: (name: string) => string | null,
  ): string | null;
  /** The source of events: exactly one of `requests`, `stream` and `list`. */
  requests?: EventRequests;
  stream?: ProviderEventStream;
  list?: EventList;
  /** Absent if a person sets subscriptions up at the provider. They are PENDING until their first event. */
  calls?: SubscriptionCalls;
  /** Instructions for a person who sets the webhook up at the provider. */
  instructions?: (url: string) => string;
}
