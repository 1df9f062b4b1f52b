/** Takes a slot for each request. A full process refuses a request before it does any work for it. */
import type { preHandlerHookHandler } from 'fastify';
import type { Services } from '../../domain/call.ts';
import { toNetwork } from '../../domain/viewer/network.ts';
import { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { TakeSlot } from '../../rest/rest.ts';

export interface Slots {
  take: TakeSlot;
  /** Takes a slot before the handler of a route runs. */
  hook: preHandlerHookHandler;
  /** Like `hook`, for pages. It counts requests by network, because visitors of pages have no credentials. */
  pageHook: preHandlerHookHandler;
}

export function createSlots({ shares, meters }: Pick<Services, 'shares' | 'meters'>): Slots {
  const take: TakeSlot = ({ metadata }, reply) => {
    const { raw: res } = reply;
    // The client has disconnected, or an incomplete request has been refused.
    if (res.destroyed || res.writableEnded) {
      reply.hijack();
      return false;
    }
    const slot = new RequestSlot(shares, meters);
    const refusal = slot.countArrival(toNetwork(metadata.address));
    if (refusal) throw refusal;
    res.once('close', () => slot.release());
    metadata.slot = slot;
    return true;
  };
  return {
    take,
    hook(request, reply, done) {
      if (take(request, reply)) done();
    },
    pageHook(request, reply, done) {
      if (!take(request, reply)) return;
      request.metadata.slot?.countByNetwork();
      done();
    },
  };
}
