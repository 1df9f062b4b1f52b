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
  /** Returns all received bytes as Latin-1 text. */
  readBytes(): string;
  /** Returns the headers of the last request. */
  readHeaders(): Record<string, unknown>;
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
    readBytes: () => Buffer.concat(bodies).toString('latin1'),
    readHeaders: () => headers,
    [Symbol.asyncDispose]: stop,
  };
  return receiver;
}

const LENGTH_DELIMITED = 2;
/** The code of a failed span in `Status` of opentelemetry/proto/trace/v1/trace.proto. */
const STATUS_CODE_ERROR = 2;

/** Yields the members of a protobuf message that are varints or length-delimited. */
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
    const [number, wireType] = [tag >> 3, tag & 7];
    if (wireType === LENGTH_DELIMITED) {
      const length = readVarint();
      yield { number, value: message.subarray(offset, offset + length) };
      offset += length;
    } else if (wireType === 0) {
      const from = offset;
      readVarint();
      yield { number, value: message.subarray(from, offset) };
    } else offset += wireType === 1 ? 8 : 4;
  }
}

const listMembers = (message: Buffer, number: number) =>
  [...decodeMembers(message)]
    .filter((member) => member.number === number)
    .map(({ value }) => value);
const readMember = (message: Buffer, number: number) =>
  listMembers(message, number)[0] ?? Buffer.alloc(0);

/** Uses the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function decodeSpans(body: Buffer): ReceivedSpan[] {
  return listMembers(body, 1)
    .flatMap((resourceSpans) => listMembers(resourceSpans, 2))
    .flatMap((scopeSpans) => listMembers(scopeSpans, 2))
    .map((span) => ({
      traceId: readMember(span, 1).toString('hex'),
      spanId: readMember(span, 2).toString('hex'),
      parentSpanId: readMember(span, 4).toString('hex'),
      name: readMember(span, 5).toString(),
      attributes: Object.fromEntries(
        listMembers(span, 9).map((pair) => [
          readMember(pair, 1).toString(),
          readMember(readMember(pair, 2), 1).toString(),
        ]),
      ),
      hasFailed: readMember(readMember(span, 15), 3)[0] === STATUS_CODE_ERROR,
    }));
}
