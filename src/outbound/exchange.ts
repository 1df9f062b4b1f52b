/** One request and its answer, within a time and a size. */
import type { Dispatcher } from 'undici';
import { OutboundError, outboundError } from './error.ts';

/** RFC 9110, 7.6.1: headers that speak of one connection, and not of what is sent over it. */
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

export interface OutboundRequest {
  method: Dispatcher.HttpMethod;
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** For all of it: waiting for a connection, connecting, sending, and the answer. */
  timeoutMs: number;
  /** How much of the answer's body is read. */
  answerBytes: number;
  /**
   * True: the answer is of use only as a whole, and one that is too large, cut off or late is an error.
   * False: the status counts, and the body holds as much as came.
   */
  wholeAnswer?: boolean;
  /** Ends the request; it then fails with the signal's reason. */
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body goes on beyond what was read. */
  truncated: boolean;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<OutboundResponse>;
  readonly #request: OutboundRequest;
  readonly #settle: PromiseWithResolvers<OutboundResponse>;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #start: Pick<OutboundResponse, 'status' | 'headers'> | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(request: OutboundRequest) {
    this.#request = request;
    this.#settle = Promise.withResolvers();
    this.answer = this.#settle.promise;
    this.#timer = setTimeout(() => this.#breakOff(this.#late()), request.timeoutMs);
    request.signal?.addEventListener('abort', this.#abort);
    if (request.signal?.aborted) this.#abort();
  }

  /** Ends with the exchange, and never throws. Returns whether the connection is good for another one. */
  async sendOn(client: Dispatcher, path: string): Promise<boolean> {
    if (this.#isOver) return false;
    const { method, headers, body } = this.#request;
    client.dispatch({ method, path, headers, body }, this);
    return this.answer.then(
      ({ truncated }) => !truncated,
      () => false,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('No longer wanted.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx: the final answer follows.
    if (status >= 200) this.#start = { status, headers: joined(headers) };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.#request.answerBytes - this.#bytes;
    if (chunk.length <= room) {
      this.#bytes += chunk.length;
      this.#chunks.push(chunk);
      return;
    }
    this.#chunks.push(chunk.subarray(0, room));
    this.#breakOff(
      new OutboundError(
        'TOO_LARGE',
        `The answer is larger than ${this.#request.answerBytes} bytes.`,
      ),
    );
  }

  onResponseEnd(): void {
    this.#end(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#breakOff(outboundError(error, this.#controller !== undefined));
  }

  readonly #abort = () => this.#fail(this.#request.signal?.reason);

  #late(): OutboundError {
    const seconds = this.#request.timeoutMs / 1000;
    return this.#controller
      ? new OutboundError('TIMEOUT', `No whole answer within ${seconds} s.`)
      : new OutboundError('UNREACHABLE', `No connection within ${seconds} s.`);
  }

  /** If a status came and the body need not be whole, this counts as an answer. */
  #breakOff(error: OutboundError): void {
    if (this.#start && !this.#request.wholeAnswer) this.#end(true);
    else this.#fail(error);
  }

  #end(truncated: boolean): void {
    if (this.#start) {
      this.#settle.resolve({ ...this.#start, body: Buffer.concat(this.#chunks), truncated });
    }
    this.#close(truncated);
  }

  #fail(reason: unknown): void {
    this.#settle.reject(reason);
    this.#close(true);
  }

  #close(isBroken: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#abort);
    // The rest of an answer that was not read to its end would come before the next answer: the socket is closed.
    if (isBroken) this.#controller?.abort(new Error('No longer wanted.'));
  }
}

/** One value for each header. */
export function joined(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [value ?? ''].flat().join(', '),
    ]),
  );
}
