/** The context of resolvers: the call, and relations that are batched for the request. */
import type { FieldNode } from 'graphql';
import { type Call, createCall, type Services } from '../../domain/access/call.ts';
import { createRelations, type Relations } from '../../domain/access/relations.ts';
import type { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { STORED_SPELLING } from '../schema/input-form.ts';

export interface Context extends Relations {
  readonly viewer: Viewer | null;
  /**
   * Absent without credentials. In that case no resolver runs, because resolver-plugin.ts refuses every root
   * field.
   */
  readonly call: Call;
  /** The cursor after which an interrupted event stream resumes. */
  lastEventId?: string | null;
  /** The inputs that argument-checks.ts has parsed, for fields that declare `extensions.parseArguments`. */
  inputs?: ReadonlyMap<FieldNode, unknown>;
}

interface ContextParts {
  viewer: Viewer | null;
  /** The URL by which the client reaches the gateway, if that replaces `Services.publicUrl`. */
  gatewayUrl?: string | null | undefined;
  /** Absent for events of a stream, which have no request. */
  slot?: RequestSlot | undefined;
}

export function createContext(
  services: Services,
  { viewer, gatewayUrl, slot }: ContextParts,
): Context {
  const call = (viewer &&
    createCall(services, viewer, { slot, gatewayUrl, spelling: STORED_SPELLING })) as Call;
  return { viewer, call, ...createRelations(call) };
}
