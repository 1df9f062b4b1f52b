/** A collector that receives traces over OTLP/HTTP with protobuf. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root span of a trace. */
  parentSpanId: string;
  name: string;
  attributes: Record<string, string>;
  hasFailed: boolean;
}

export interface TraceReceiver extends AsyncDisposable {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: ReceivedSpan[];
  /** All received bytes. */
  bytes(): string;
  /** The headers of the last request. */
  headers(): Record<string, unknown>;
  answer: number;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const bodies: Buffer[] = [];
  let headers: Record<string, unknown> = {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    headers = request.headers;
    response.writeHead(request.url === '/v1/traces' ? receiver.answer : 404).end();
    if (receiver.answer !== 200) return;
    const body = Buffer.concat(chunks);
    bodies.push(body);
    receiver.spans.push(...decodeSpans(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${port}`,
    spans: [],
    answer: 200,
    bytes: () => Buffer.concat(bodies).toString('latin1'),
    headers: () => headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

const LENGTH_DELIMITED = 2;

/** Yields the members of a protobuf message that are varints or have a length. */
function* decodeMembers(message: Buffer): Generator<{ number: number; value: Buffer }> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < message.length) {
    const tag = varint();
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire === LENGTH_DELIMITED) {
      const length = varint();
      yield { number, value: message.subarray(at, at + length) };
      at += length;
    } else if (wire === 0) {
      const from = at;
      varint();
      yield { number, value: message.subarray(from, at) };
    } else at += wire === 1 ? 8 : 4;
  }
}

const all = (message: Buffer, number: number) =>
  [...decodeMembers(message)]
    .filter((member) => member.number === number)
    .map(({ value }) => value);
const first = (message: Buffer, number: number) => all(message, number)[0] ?? Buffer.alloc(0);

/** Uses the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function decodeSpans(body: Buffer): ReceivedSpan[] {
  return all(body, 1)
    .flatMap((ofResource) => all(ofResource, 2))
    .flatMap((ofScope) => all(ofScope, 2))
    .map((span) => ({
      traceId: first(span, 1).toString('hex'),
      spanId: first(span, 2).toString('hex'),
      parentSpanId: first(span, 4).toString('hex'),
      name: first(span, 5).toString(),
      attributes: Object.fromEntries(
        all(span, 9).map((pair) => [
          first(pair, 1).toString(),
          first(first(pair, 2), 1).toString(),
        ]),
      ),
      hasFailed: first(first(span, 15), 3)[0] === 2,
    }));
}
