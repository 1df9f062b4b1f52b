/** Events of providers: what a provider tells by itself, and how to subscribe to it. */
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

/** The two ends of an association. */
export interface ProviderAssociation {
  from: { id: string; objectName: string };
  to: { id: string; objectName: string };
}

/** One thing that happened at a provider. */
export interface ProviderEvent {
  /** The provider's id of the event: when it is sent again, it has the same. */
  nativeId: string;
  /** The account in which it happened, as `accountOf` tells it. */
  account: string;
  objectName: string;
  /** Null for events that are not about a record. */
  recordId: string | null;
  kind: ProviderEventKind;
  /** The provider's name of what happened. */
  nativeType: string;
  time: Date;
  /** Of an update, as far as the provider tells. */
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
  /** As the provider was given it: under the gateway's public address. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Byte by byte as it was sent. */
  body: Buffer;
}

/** What a provider is asked to send. */
export interface WantedSubscription {
  objectName: string;
  kinds: readonly ProviderEventKind[];
  otherEvents: readonly string[];
  /** Where to. */
  url: string;
  /** What to sign with. */
  secret: string;
  /** What the events are to call the account. */
  account: string;
}

export interface MadeSubscription {
  /** The provider's id of it. */
  providerRef: string;
  /** Null if it lasts until it is taken down. */
  expireTime: Date | null;
  /** What its events are signed with, if the provider has made that itself; one of them signs each. */
  secrets?: string[];
}

/** A body that is not what the provider sends. */
export class MalformedEvents extends Error {
  override name = 'MalformedEvents';
}

/** Subscriptions that are made by requests. */
export interface SubscriptionCalls {
  /** One subscription serves all installations of a connection: it goes with the last of them. */
  areShared?: true;
  /** They end by themselves if they are not renewed. */
  expire?: true;
  setUp(session: ProviderSession, wanted: WantedSubscription): Promise<MadeSubscription>;
  /** Makes it last longer. Null if it is gone at the provider. */
  renew(session: ProviderSession, providerRef: string): Promise<MadeSubscription | null>;
  /** One that is gone already is no error. */
  takeDown(session: ProviderSession, providerRef: string): Promise<void>;
}

export interface WebhookAnswer {
  status: 200 | 204;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: Record<string, string>;
}

/** The subscription that the address of a request names. */
export interface AddressedSubscription {
  /** What its events are to call the account. */
  account: string;
  objectName: string;
}

/** What a request does not say itself. */
export interface Arrival {
  now: Date;
  /** Null for a provider that signs by the secrets of the app. */
  subscription: AddressedSubscription | null;
}

/** Events that the provider sends in requests. */
export interface EventRequests {
  /** The provider makes the secrets itself, for each subscription: each has an address of its own. */
  hasOwnSecrets?: true;
  /**
   * The answer to a request that only asks whether somebody is there, before there are secrets; null for any other. It
   * proves nothing and is answered to anybody.
   */
  greet?: (request: WebhookRequest) => WebhookAnswer | null;
  /** Whether one of the secrets has signed the request, and not too long ago. Compares in constant time. */
  isSigned(request: WebhookRequest, secrets: readonly string[], now: Date): boolean;
  /** Throws MalformedEvents. What it does not know how to tell of is left out. */
  eventsOf(request: WebhookRequest, arrival: Arrival): ProviderEvent[];
  /** What a request that was taken is answered with, by the secret that signs now. Left out: 204. */
  answer?: (request: WebhookRequest, secret: string) => WebhookAnswer;
}

export interface StreamStart {
  /** Of the connection, as `accountOf` tells it. */
  account: string;
  /** What came before is known. Null: from now on. */
  position: string | null;
  accessToken: string;
  /** Of the stream's server. */
  client: Client;
  /** Ends it. */
  signal: AbortSignal;
}

export interface TimeSpan {
  since: Date;
  until: Date;
}

/** A time of which the provider does not tell the changes one by one. */
export interface StreamGap extends TimeSpan {
  objectName: string;
}

/** Changes that come together. A stream that begins after their position brings none of them again. */
export interface StreamBatch {
  events: ProviderEvent[];
  gaps: StreamGap[];
  position: string;
  /** Of the last change that is told; null if nothing has happened until now. */
  lastTime: Date | null;
}

/** Events that the gateway fetches by a stream, one for each connection. */
export interface EventStream {
  /** Of a gRPC server: nothing else is connected to. */
  url: string;
  /**
   * Resolves when the stream is open: no later change is missed. The next batch is asked for when all before it are
   * stored. Throws ProviderError, AUTH_INVALIDATED for a token that is refused and CURSOR_GONE for a position
   * that is not known any more; so does the iteration.
   */
  open(session: ProviderSession, start: StreamStart): Promise<AsyncIterable<StreamBatch>>;
  /** What was deleted in a time that no event tells of. */
  deletions(
    session: ProviderSession,
    span: TimeSpan & { account: string; objectName: string },
  ): Promise<ProviderEvent[]>;
}

/** What tells that a list has something new: its requests say no more than that. */
export interface MadePing {
  /** The provider's id of it. */
  providerRef: string;
  /** What its requests are signed with. */
  secret: string;
}

export interface ListPlace {
  /** What the events are to call the account. */
  account: string;
  providerRef: string;
  /** All before is known. Null: the first that the provider has. */
  position: string | null;
}

/** As much of a list as one request gives. */
export interface ListPart {
  events: ProviderEvent[];
  /** Where the next part begins. None of this one is sent again to whoever begins there. */
  position: string;
  hasMore: boolean;
  /** Of the last change that is told; null if there is none. */
  lastTime: Date | null;
  /** Not all changes before it are told: the provider has forgotten them, or can't say them. */
  untoldUntil: Date | null;
}

/** Events that the gateway fetches from a list, one for each connection, when the provider has said that there are some. */
export interface EventList {
  /** Whether the secret has signed the request. Compares in constant time. */
  isPing(request: WebhookRequest, secret: string, now: Date): boolean;
  /** Others that tell it to the same address are removed: nobody knows their secrets. */
  setUp(session: ProviderSession, url: string): Promise<MadePing>;
  /** Makes it last longer, and has it tell again if it has stopped. False if it is gone, or has ended. */
  renew(session: ProviderSession, providerRef: string): Promise<boolean>;
  /** One that is gone already is no error. */
  takeDown(session: ProviderSession, providerRef: string): Promise<void>;
  /** Throws ProviderError: CURSOR_GONE for a position that is not known any more. */
  read(session: ProviderSession, place: ListPlace): Promise<ListPart>;
}

export interface SubscribeCapability {
  /** What it tells of; an integration can ask for nothing else. */
  kinds: readonly ProviderEventKind[];
  /** The same of one object; left out if it tells as much of all. */
  kindsOf?: (objectName: string) => readonly ProviderEventKind[];
  /** What the provider's events call a connection's account; null while that is not known. */
  accountOf(
    connection: { id: string; providerWorkspaceRef: string | null },
    /** A fact of the connection: a member of its metadata. */
    fact: (name: string) => string | null,
  ): string | null;
  /** How events come: in requests, by a stream, or from a list. */
  requests?: EventRequests;
  stream?: EventStream;
  list?: EventList;
  /** Left out if a person sets them up at the provider: they are PENDING until their first event. */
  calls?: SubscriptionCalls;
  /** For people: what to set up at the provider. */
  instructions?: (url: string) => string;
}
