/** A receiver of webhooks on 127.0.0.1: it keeps what arrives, and behaves as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** How messages are answered; ENDLESS is a 200 whose body doesn't end. */
export type Behaviour =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'HANG'
  | 'DROP'
  | 'ENDLESS';

export interface Received {
  id: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver extends AsyncDisposable {
  /** A place of its own for each name. */
  url(name: string): string;
  received(name: string): Received[];
  /** From now on; 200 until told otherwise. */
  behave(name: string, behaviour: Behaviour): void;
  /** Answers all that hangs. */
  answerHeld(name: string, behaviour: Behaviour): void;
  /** Resolves when so many messages have arrived. */
  arrived(name: string, count: number): Promise<void>;
  /** The most that were under way at once. */
  mostAtOnce(name: string): number;
}

interface Place {
  received: Received[];
  behaviour: Behaviour;
  underWay: number;
  mostAtOnce: number;
  held: ServerResponse[];
  waiting: { count: number; resolve: () => void }[];
}

export async function startReceiver(): Promise<Receiver> {
  const places = new Map<string, Place>();
  const placeOf = (name: string) => {
    const place = places.get(name) ?? newPlace();
    places.set(name, place);
    return place;
  };
  const server = createServer((request, response) => {
    void receive(placeOf(request.url?.slice(1) ?? ''), request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    received: (name) => placeOf(name).received,
    behave: (name, behaviour) => {
      placeOf(name).behaviour = behaviour;
    },
    answerHeld: (name, behaviour) => {
      const place = placeOf(name);
      for (const response of place.held.splice(0)) answer(place, behaviour, response);
    },
    async arrived(name, count) {
      const { received, waiting } = placeOf(name);
      if (received.length >= count) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      await promise;
    },
    mostAtOnce: (name) => placeOf(name).mostAtOnce,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The message as a receiver that holds this secret checks it; throws if it is not signed with it. */
export function verified({ headers, body }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}

function newPlace(): Place {
  return {
    received: [],
    behaviour: { status: 200 },
    underWay: 0,
    mostAtOnce: 0,
    held: [],
    waiting: [],
  };
}

async function receive(place: Place, request: IncomingMessage, response: ServerResponse) {
  place.underWay += 1;
  place.mostAtOnce = Math.max(place.mostAtOnce, place.underWay);
  response.on('close', () => {
    place.underWay -= 1;
  });
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = await textOf(request);
  place.received.push({ id: headers['webhook-id'] ?? '', headers, body });
  answer(place, place.behaviour, response);
  for (const { count, resolve } of place.waiting) {
    if (place.received.length >= count) resolve();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function answer({ held }: Place, behaviour: Behaviour, response: ServerResponse): void {
  if (behaviour === 'HANG') {
    held.push(response);
  } else if (behaviour === 'DROP') {
    response.socket?.destroy();
  } else if (behaviour === 'ENDLESS') {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more).on('error', () => {});
    more();
  } else {
    response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
  }
}
