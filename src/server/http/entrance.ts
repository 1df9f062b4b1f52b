/** Where requests get their slot. One for which the process has no room is refused before any work is done for it. */
import type { ServerResponse } from 'node:http';
import type { Services } from '../../domain/call.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import { DomainError, type Problem } from '../../errors.ts';

export interface Entrance {
  /** As `enter`, for requests of pages, whose visitors stay unknown: they count by their network. */
  enterPage(res: ServerResponse, address: string): RequestSlot | null;
  /**
   * Counts the request until its response has been sent and its work has ended. Null if there is no room, or the
   * client is gone: the request is refused already, in the format that clients of its path expect.
   */
  enter(res: ServerResponse, type: ContentType, address: string): RequestSlot | null;
}

type ContentType = 'application/problem+json' | 'application/json';

export function createEntrance({ shares, meters }: Pick<Services, 'shares' | 'meters'>): Entrance {
  const enter: Entrance['enter'] = (res, type, address) => {
    // The connection was cut while the last bytes of the request came.
    if (res.writableEnded) return null;
    const slot = new RequestSlot(shares, meters);
    const refusal = slot.enter(networkOf(address));
    if (refusal) {
      refuse(res, type, refusal.problem);
      return null;
    }
    res.once('close', () => slot.leave());
    return slot;
  };
  return {
    enter,
    enterPage(res, address) {
      const slot = enter(res, 'application/problem+json', address);
      try {
        slot?.enterUnknown();
        return slot;
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        refuse(res, 'application/problem+json', error.problem);
        return null;
      }
    },
  };
}

function refuse(res: ServerResponse, type: ContentType, problem: Problem): void {
  const { detail: message, status, retryAfterSeconds } = problem;
  const error = { message, extensions: { code: 'SERVICE_UNAVAILABLE', problem } };
  const body = JSON.stringify(type === 'application/json' ? { errors: [error] } : problem);
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'retry-after': String(retryAfterSeconds),
  });
  res.end(body);
}
