/** What the server knows of a request that it passes to REST. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSlot } from '../domain/viewer/share/request-slot.ts';
import { keepingSpan } from '../spans.ts';

export interface FromServer {
  /** The client's address, as trusted proxies tell it. */
  address: string;
  /** The origin of the page that sends it, if that is neither the gateway's own nor the operator's. */
  page: string | null;
  /** Gives the request its slot. Null if there is no room: the request is refused already. */
  enter(): RequestSlot | null;
  /** Absent until all of the request has come. */
  slot?: RequestSlot;
}

const SAID = Symbol('said');
const GO_ON = Symbol('go on');

/** What is known of a request lives as long as the request: in a WeakMap it would until old memory is collected. */
interface Known extends IncomingMessage {
  [SAID]?: FromServer;
  [GO_ON]?: (work: () => void) => void;
}

export function giveToRest(
  app: FastifyInstance,
  exchange: { req: IncomingMessage; res: ServerResponse },
  said: FromServer,
): void {
  const { req, res }: { req: Known; res: ServerResponse } = exchange;
  req[SAID] = said;
  app.routing(req, res);
}

/** Requests that Fastify injects, as tests do, have no slot. */
export function fromServer({ raw, ip }: FastifyRequest): FromServer {
  return (raw as Known)[SAID] ?? { address: ip, page: null, enter: () => null };
}

/** False if there is no room for the request: it is refused already. */
export function takeSlot({ raw }: FastifyRequest): boolean {
  const said = (raw as Known)[SAID];
  if (!said) return true;
  const slot = said.enter();
  if (slot) said.slot = slot;
  return slot !== null;
}

/** The router goes on by events of the connection, which belong to no trace. */
export function keepTraces(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }: { raw: Known }, _reply, done) => {
    raw[GO_ON] = keepingSpan((work) => work());
    done();
  });
  app.addHook('preValidation', ({ raw }: { raw: Known }, _reply, done) => {
    const within = raw[GO_ON];
    if (within) within(done);
    else done();
  });
}

/** A request gets its slot when all of it has come. */
export function takeSlots(app: FastifyInstance): void {
  app.addHook('preHandler', async (request, reply) => {
    if (!takeSlot(request)) return reply.hijack();
  });
}
