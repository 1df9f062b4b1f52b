/** The streams and lists of provider events that a process follows. */
import type { Row } from '../../../../database/statements/tables.ts';
import type {
  EventList,
  ProviderEventStream as StreamCapability,
} from '../../../../providers/subscribing.ts';
import type { AccountProviderSession } from '../../../connections/connection/connection-session.ts';

export type ProviderStream = Row<'ProviderStream'>;

/** A stream or a list that this process follows. `stream` is updated with its position and time after each commit. */
export interface FollowedAccount {
  readonly stream: ProviderStream;
  readonly session: AccountProviderSession;
  /** The name of the connection's account in the events. */
  readonly account: string;
  /** Null if the provider can't list the deletions of a period without events. */
  readonly listDeletions: StreamCapability['listDeletions'] | null;
  /** The provider apps whose subscriptions needed the latest events. */
  appIds: readonly string[];
}

export interface FollowedProviderStream extends FollowedAccount {
  readonly capability: StreamCapability;
  accessToken: string;
}

export interface FollowedList extends FollowedAccount {
  readonly list: EventList;
  /** The address to which the provider sends notifications of changes. */
  readonly address: string;
  /** The webhook that sends these notifications. Null until it is created. */
  webhook: Row<'ListWebhook'> | null;
}
