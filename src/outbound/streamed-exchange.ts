/**
 * One request and its response as streams. No side waits for the complete body of the other, and nothing is buffered.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { OutboundError, outboundError } from './error.ts';

export interface StreamedRequest {
  method: string;
  url: string;
  headers: Record<string, string | string[]>;
  /** The request body. It is read only as fast as the receiver accepts it. */
  body: AsyncIterable<Buffer> | null;
  /** The maximum time without any data, in either direction. */
  idleMs: number;
  /** Time limit for the whole exchange, up to the end of the response body. */
  timeoutMs: number;
  /** Aborts the request, which then fails with the signal's reason. */
  signal: AbortSignal;
}

export interface StreamedResponse {
  status: number;
  /** The names are in lower case. A header that occurs several times has a list of values. */
  headers: Record<string, string | string[]>;
  /** Fails with an OutboundError if it is cut off. Destroy it to cancel the exchange. */
  body: Readable;
  /** Resolves when the body has ended or failed. */
  closed: Promise<void>;
}

export class StreamedExchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<StreamedResponse>;
  readonly #request: StreamedRequest;
  readonly #settle: PromiseWithResolvers<StreamedResponse>;
  readonly #closed = Promise.withResolvers<boolean>();
  readonly #idle: NodeJS.Timeout;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #sent: Readable | null = null;
  #body: Readable | undefined;
  #isOver = false;

  constructor(request: StreamedRequest) {
    const { idleMs, timeoutMs, signal } = request;
    this.#request = request;
    this.#settle = Promise.withResolvers();
    this.outcome = this.#settle.promise;
    this.#idle = setTimeout(() => this.#fail(this.#late('No data for', idleMs)), idleMs);
    this.#timer = setTimeout(() => this.#fail(this.#late('No end within', timeoutMs)), timeoutMs);
    signal.addEventListener('abort', this.#abort);
    if (signal.aborted) this.#abort();
  }

  /** Resolves when the exchange ends, and never throws. Returns true if the connection can be reused. */
  async sendOn(client: Dispatcher, path: string): Promise<boolean> {
    if (this.#isOver) return false;
    const { method, headers, body } = this.#request;
    this.#sent = body && Readable.from(this.#watched(body), { objectMode: false });
    const options = { method: method as Dispatcher.HttpMethod, path, headers, body: this.#sent };
    client.dispatch(options, this);
    return this.#closed.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('The exchange has ended.'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx status: the final response follows.
    if (status < 200) return;
    const body = new Readable({
      read: () => {
        this.#idle.refresh();
        controller.resume();
      },
      destroy: (error, done) => {
        this.#close(true);
        done(error);
      },
    });
    // The body may fail before it is read. A later reader still gets the error.
    body.on('error', () => {});
    this.#body = body;
    this.#settle.resolve({
      status,
      headers: headers as StreamedResponse['headers'],
      body,
      closed: this.#closed.promise.then(() => undefined),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#idle.refresh();
    if (this.#body?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#body?.push(null);
    this.#close(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(outboundError(error, this.#controller !== undefined));
  }

  readonly #abort = () => this.#fail(this.#request.signal.reason);

  async *#watched(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.#idle.refresh();
      yield chunk;
    }
    this.#idle.refresh();
  }

  #late(message: string, ms: number): OutboundError {
    const kind = this.#controller ? 'TIMEOUT' : 'UNREACHABLE';
    return new OutboundError(kind, `${message} ${ms / 1000} s.`);
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#settle.reject(reason);
    this.#body?.destroy(reason as Error);
    this.#close(true);
  }

  #close(isBroken: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#abort);
    // The receiver may respond before it has read the whole request body.
    this.#sent?.destroy();
    // The socket is closed: otherwise the unread rest of this response would precede the next response.
    if (isBroken) this.#controller?.abort(new Error('The exchange has ended.'));
    this.#closed.resolve(!isBroken);
  }
}
