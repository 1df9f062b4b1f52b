/** The context of resolvers: the call, and relations that are batched for the request. */
import { type Call, createCall, type Services } from '../../domain/call.ts';
import { createRelations, type Relations } from '../../domain/relations.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { Credentials, Viewer } from '../../domain/viewer/viewer.ts';

/** The parts of a request that resolvers need. */
export interface RequestParts {
  requestId: string;
  /** The caller's credentials. An open stream checks them periodically. */
  credentials?: Credentials;
  /** The cursor after which an interrupted event stream resumes. */
  lastEventId?: string | null;
  /** The URL by which the client reaches the gateway, if that replaces `Services.publicUrl`. */
  gatewayUrl?: string | null | undefined;
}

interface CallerContext extends RequestParts {
  viewer: Viewer | null;
}

export interface Context extends CallerContext, Relations {
  /**
   * Absent without credentials. In that case no resolver runs, because authorized-callers.ts refuses every root
   * field.
   */
  readonly call: Call;
}

/** Creates the context. `slot` is absent for events of a stream, which have no request. */
export function createContext(
  services: Services,
  callerContext: CallerContext,
  slot?: RequestSlot,
): Context {
  const { viewer, gatewayUrl } = callerContext;
  const call = (viewer && createCall(services, viewer, { slot, gatewayUrl })) as Call;
  return { ...callerContext, call, ...createRelations(call) };
}
