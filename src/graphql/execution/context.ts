/** What resolvers get: the caller's call, and relations batched for the request. */
import type { Call, Services } from '../../domain/call.ts';
import { createRelations, type Relations } from '../../domain/relations.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { Credentials, Viewer } from '../../domain/viewer/viewer.ts';
import { withoutCredentials } from '../../errors.ts';

/** The caller, and what came with the request. */
export interface ContextFacts {
  viewer: Viewer | null;
  requestId: string;
  /** The caller's credentials; an open stream checks them repeatedly. */
  credentials?: Credentials;
  /** Where an event stream that was cut begins again: a cursor. */
  lastEventId?: string | null;
}

export interface Context extends ContextFacts, Relations {
  /** Any use throws UNAUTHENTICATED for a caller without credentials: nothing of the domain is reached without. */
  readonly call: Call;
}

/** `slot` is what the request holds of the process; an item of a stream has none. */
export function createContext(
  services: Services,
  facts: ContextFacts,
  slot?: RequestSlot,
): Context {
  const { viewer } = facts;
  const call: Call = viewer ? { ...services, viewer, ...(slot && { slot }) } : NOBODY;
  return { ...facts, call, ...createRelations(call) };
}

/** Throws when it is used, not when it is read: a context is copied member by member for each event of a stream. */
const NOBODY = new Proxy({} as Call, {
  get() {
    throw withoutCredentials();
  },
});
