/** What the server knows of a request that it passes to REST. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keepingSpan } from '../spans.ts';

export interface FromServer {
  /** The client's address, as trusted proxies tell it. */
  address: string;
  /** The origin of the page that sends it, if that is neither the gateway's own nor the operator's. */
  page: string | null;
  /** Takes a place to run in. False if there is none: then the request is answered already. */
  enter(): boolean;
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

/** A request that was not given by the server, as tests do, is let in. */
export function fromServer({ raw, ip }: FastifyRequest): FromServer {
  return (raw as Known)[SAID] ?? { address: ip, page: null, enter: () => true };
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

/** A place is taken when all of the request has come. */
export function takePlaces(app: FastifyInstance): void {
  app.addHook('preHandler', async (request, reply) => {
    if (!fromServer(request).enter()) return reply.hijack();
  });
}
