import type { EventStream as StreamCapability } from '../../../providers/subscribing.ts';
import type { AccountSession } from '../../connection/connection-session.ts';
import type { ProviderStream } from './stream-lease.ts';

/** A stream that this process holds. Its place and time are kept up with what is stored. */
export interface Followed {
  readonly stream: ProviderStream;
  readonly capability: StreamCapability;
  readonly session: AccountSession;
  /** What its events call the connection's account. */
  readonly account: string;
  accessToken: string;
  /** The provider apps whose subscriptions wanted the last of its events. */
  apps: readonly string[];
}
