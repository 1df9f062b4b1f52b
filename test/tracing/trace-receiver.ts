/** A collector that receives traces over OTLP/HTTP with protobuf. */
import { serve } from '../support/wire/serve.ts';

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
  responseStatus: number;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const bodies: Buffer[] = [];
  let headers: Record<string, unknown> = {};
  const { url, stop } = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    headers = request.headers;
    response.writeHead(request.url === '/v1/traces' ? receiver.responseStatus : 404).end();
    if (receiver.responseStatus !== 200) return;
    const body = Buffer.concat(chunks);
    bodies.push(body);
    receiver.spans.push(...decodeSpans(body));
  });
  const receiver: TraceReceiver = {
    url,
    spans: [],
    responseStatus: 200,
    bytes: () => Buffer.concat(bodies).toString('latin1'),
    headers: () => headers,
    [Symbol.asyncDispose]: stop,
  };
  return receiver;
}

const LENGTH_DELIMITED = 2;

/** Yields the members of a protobuf message that are varints or have a length. */
function* decodeMembers(message: Buffer): Generator<{ number: number; value: Buffer }> {
  let offset = 0;
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[offset++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (offset < message.length) {
    const tag = readVarint();
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire === LENGTH_DELIMITED) {
      const length = readVarint();
      yield { number, value: message.subarray(offset, offset + length) };
      offset += length;
    } else if (wire === 0) {
      const from = offset;
      readVarint();
      yield { number, value: message.subarray(from, offset) };
    } else offset += wire === 1 ? 8 : 4;
  }
}

const listFields = (message: Buffer, number: number) =>
  [...decodeMembers(message)]
    .filter((member) => member.number === number)
    .map(({ value }) => value);
const readField = (message: Buffer, number: number) =>
  listFields(message, number)[0] ?? Buffer.alloc(0);

/** Uses the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function decodeSpans(body: Buffer): ReceivedSpan[] {
  return listFields(body, 1)
    .flatMap((resourceSpans) => listFields(resourceSpans, 2))
    .flatMap((scopeSpans) => listFields(scopeSpans, 2))
    .map((span) => ({
      traceId: readField(span, 1).toString('hex'),
      spanId: readField(span, 2).toString('hex'),
      parentSpanId: readField(span, 4).toString('hex'),
      name: readField(span, 5).toString(),
      attributes: Object.fromEntries(
        listFields(span, 9).map((pair) => [
          readField(pair, 1).toString(),
          readField(readField(pair, 2), 1).toString(),
        ]),
      ),
      hasFailed: readField(readField(span, 15), 3)[0] === 2,
    }));
}
