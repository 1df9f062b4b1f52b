/** One request and its response, limited in time and size. */
import type { Dispatcher } from 'undici';
import { OutboundError, toOutboundError } from './outbound-error.ts';

/** Headers that concern one connection, and not the message (RFC 9110, 7.6.1). They are not forwarded. */
export const CONNECTION_HEADERS = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/** A field value of RFC 9110, section 5.5: no line breaks or other control characters. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface OutboundRequest {
  method: Dispatcher.HttpMethod;
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** Time limit for the whole exchange: waiting for a socket, connecting, sending, and the response. */
  timeoutMs: number;
  /** The maximum number of bytes of the response body that are read. */
  responseBytesMax: number;
  /**
   * If true, an incomplete response (too large, cut off or late) is an error. If false, the response has the status and
   * the part of the body that arrived.
   */
  requiresWholeBody?: boolean;
  /** Aborts the request, which then fails with the signal's reason. */
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  /** The names are in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** True if the body is longer than what was read. */
  truncated: boolean;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<OutboundResponse>;
  readonly #request: OutboundRequest;
  readonly #deferred: PromiseWithResolvers<OutboundResponse>;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #responseHead: Pick<OutboundResponse, 'status' | 'headers'> | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(request: OutboundRequest) {
    this.#request = request;
    this.#deferred = Promise.withResolvers();
    this.outcome = this.#deferred.promise;
    this.#timer = setTimeout(() => this.#endEarly(this.#createTimeoutError()), request.timeoutMs);
    request.signal?.addEventListener('abort', this.#abort);
    if (request.signal?.aborted) this.#abort();
  }

  /** Resolves when the exchange ends, and never throws. Returns true if the connection can be reused. */
  async sendOn(client: Dispatcher, path: string): Promise<boolean> {
    if (this.#isOver) return false;
    const { method, headers, body } = this.#request;
    client.dispatch({ method, path, headers, body }, this);
    return this.outcome.then(
      ({ truncated }) => !truncated,
      () => false,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('The exchange has ended.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx status precedes the final response.
    if (status >= 200) this.#responseHead = { status, headers: joinHeaders(headers) };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const remaining = this.#request.responseBytesMax - this.#bytes;
    if (chunk.length <= remaining) {
      this.#bytes += chunk.length;
      this.#chunks.push(chunk);
      return;
    }
    this.#chunks.push(chunk.subarray(0, remaining));
    this.#endEarly(
      new OutboundError(
        'TOO_LARGE',
        `The response is larger than ${this.#request.responseBytesMax} bytes.`,
      ),
    );
  }

  onResponseEnd(): void {
    this.#end(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#endEarly(toOutboundError(error, this.#controller !== undefined));
  }

  readonly #abort = () => this.#fail(this.#request.signal?.reason);

  #createTimeoutError(): OutboundError {
    const seconds = this.#request.timeoutMs / 1000;
    return this.#controller
      ? new OutboundError('TIMEOUT', `No complete response within ${seconds} s.`)
      : new OutboundError('UNREACHABLE', `No connection within ${seconds} s.`);
  }

  /** Ends the exchange early. It succeeds if a status has arrived and the request accepts an incomplete body. */
  #endEarly(error: OutboundError): void {
    if (this.#responseHead && !this.#request.requiresWholeBody) this.#end(true);
    else this.#fail(error);
  }

  #end(truncated: boolean): void {
    if (this.#responseHead) {
      this.#deferred.resolve({
        ...this.#responseHead,
        body: Buffer.concat(this.#chunks),
        truncated,
      });
    }
    this.#close(truncated);
  }

  #fail(reason: unknown): void {
    this.#deferred.reject(reason);
    this.#close(true);
  }

  #close(isBroken: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#abort);
    // The socket is closed, because its next response would begin with the unread rest of this one.
    if (isBroken) this.#controller?.abort(new Error('The exchange has ended.'));
  }
}

/** Joins the values of each header to one string. */
export function joinHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [value ?? ''].flat().join(', '),
    ]),
  );
}
