/** What the server knows of a request beside the request itself. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import type { ClientAddresses } from './client-address.ts';
import type { Cors } from './cors.ts';

/** A client's own request id is taken if it is harmless in a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

export interface RequestFacts {
  requestId: string;
  /** The client's address. */
  address: string;
  /** `1.1` for HTTP/1.1. */
  httpVersion: string;
  /** The origin of the page that sends it, if that is neither the gateway's own nor the operator's. */
  page: string | null;
  /** Without the query. */
  path: string;
  /** A header of the answer; later ones of that name replace it. */
  setHeader: (name: string, value: string) => void;
  /** Cuts the connection of a client that has stopped reading. */
  disconnect: () => void;
  /** Absent until all of the request has come. */
  slot?: RequestSlot;
}

/** Answers a request. */
export type Handler = (req: IncomingMessage, res: ServerResponse, facts: RequestFacts) => void;

export function factsOf(
  req: IncomingMessage,
  res: ServerResponse,
  { addresses, cors }: { addresses: ClientAddresses; cors: Pick<Cors, 'foreignPage'> },
): RequestFacts {
  const { headers, url = '', socket } = req;
  const given = headers['x-request-id'];
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
  const query = url.indexOf('?');
  return {
    requestId: isUsable ? given : randomUUID(),
    address: addresses.of(req),
    httpVersion: req.httpVersion,
    page: cors.foreignPage(headers),
    path: query < 0 ? url : url.slice(0, query),
    setHeader: (name, value) => void res.setHeader(name, value),
    disconnect: () => socket.destroy(),
  };
}
