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

const SAID = new WeakMap<IncomingMessage, FromServer>();

export function giveToRest(
  app: FastifyInstance,
  exchange: { req: IncomingMessage; res: ServerResponse },
  said: FromServer,
): void {
  const { req, res } = exchange;
  SAID.set(req, said);
  app.routing(req, res);
}

/** A request that was not given by the server, as tests do, is let in. */
export function fromServer({ raw, ip }: FastifyRequest): FromServer {
  return SAID.get(raw) ?? { address: ip, page: null, enter: () => true };
}

/** The router goes on by events of the connection, which belong to no trace. */
export function keepTraces(app: FastifyInstance): void {
  const goOn = new WeakMap<IncomingMessage, (work: () => void) => void>();
  app.addHook('onRequest', (request, _reply, done) => {
    goOn.set(
      request.raw,
      keepingSpan((work) => work()),
    );
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const within = goOn.get(request.raw);
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
