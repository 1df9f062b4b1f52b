import type { EventList, EventStream as StreamCapability } from '../../../providers/subscribing.ts';
import type { AccountSession } from '../../connection/connection-session.ts';
import type { ProviderStream } from './stream-lease.ts';
import type { StreamPing } from './stream-ping.ts';

/** A stream or a list that this process holds. Its place and time are kept up with what is stored. */
export interface Followed {
  readonly stream: ProviderStream;
  readonly session: AccountSession;
  /** What its events call the connection's account. */
  readonly account: string;
  /** Null if the provider does not tell what was deleted in a time without events. */
  readonly deletions: StreamCapability['deletions'] | null;
  /** The provider apps whose subscriptions wanted the last of its events. */
  apps: readonly string[];
}

export interface FollowedStream extends Followed {
  readonly capability: StreamCapability;
  accessToken: string;
}

export interface FollowedList extends Followed {
  readonly list: EventList;
  /** Where the provider is to say that there is something new. */
  readonly address: string;
  /** What says it; null until it is made. */
  ping: StreamPing | null;
}
