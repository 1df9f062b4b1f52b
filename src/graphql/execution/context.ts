/** The context of resolvers: the caller's call, and relations batched for the request. */
import type { Call, Services } from '../../domain/call.ts';
import { createRelations, type Relations } from '../../domain/relations.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { Credentials, Viewer } from '../../domain/viewer/viewer.ts';

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
  /** Absent without credentials. No resolver runs then: authorized-callers.ts refuses every root field. */
  readonly call: Call;
}

/** `slot` is the slot of the request. An event of a stream has none. */
export function createContext(
  services: Services,
  facts: ContextFacts,
  slot?: RequestSlot,
): Context {
  const { viewer } = facts;
  const call = (viewer && { ...services, viewer, ...(slot && { slot }) }) as Call;
  return { ...facts, call, ...createRelations(call) };
}
