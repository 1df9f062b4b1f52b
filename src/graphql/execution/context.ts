/** The context of resolvers: the caller's call, and relations batched for the request. */
import { type Call, createCall, type Services } from '../../domain/call.ts';
import { createRelations, type Relations } from '../../domain/relations.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { Credentials, Viewer } from '../../domain/viewer/viewer.ts';

/** The caller, and what came with the request. */
export interface ContextFacts {
  viewer: Viewer | null;
  requestId: string;
  /** The caller's credentials; an open stream checks them repeatedly. */
  credentials?: Credentials;
  /** The cursor after which an interrupted event stream resumes. */
  lastEventId?: string | null;
  /** The URL by which the client reaches the gateway, if that replaces `Services.publicUrl`. */
  gatewayUrl?: string | null | undefined;
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
  const { viewer, gatewayUrl } = facts;
  const call = (viewer && createCall(services, viewer, { slot, gatewayUrl })) as Call;
  return { ...facts, call, ...createRelations(call) };
}
