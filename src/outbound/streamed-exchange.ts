/**
 * One request and its response as streams. Neither side waits for the complete body of the other, and nothing is
 * buffered.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { OutboundError, toOutboundError } from './outbound-error.ts';

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
  readonly #deferred: PromiseWithResolvers<StreamedResponse>;
  readonly #closed = Promise.withResolvers<boolean>();
  readonly #idleTimer: NodeJS.Timeout;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #requestBody: Readable | null = null;
  #responseBody: Readable | undefined;
  #isOver = false;

  constructor(request: StreamedRequest) {
    const { idleMs, timeoutMs, signal } = request;
    this.#request = request;
    this.#deferred = Promise.withResolvers();
    this.outcome = this.#deferred.promise;
    this.#idleTimer = setTimeout(
      () => this.#fail(this.#createTimeoutError('No data for', idleMs)),
      idleMs,
    );
    this.#timer = setTimeout(
      () => this.#fail(this.#createTimeoutError('No end within', timeoutMs)),
      timeoutMs,
    );
    signal.addEventListener('abort', this.#abort);
    if (signal.aborted) this.#abort();
  }

  /** Resolves when the exchange ends, and never throws. Returns true if the connection can be reused. */
  async sendOn(client: Dispatcher, path: string): Promise<boolean> {
    if (this.#isOver) return false;
    const { method, headers, body } = this.#request;
    this.#requestBody = body && Readable.from(this.#watchBody(body), { objectMode: false });
    const options = {
      method: method as Dispatcher.HttpMethod,
      path,
      headers,
      body: this.#requestBody,
    };
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
    // A 1xx status precedes the final response.
    if (status < 200) return;
    const body = new Readable({
      read: () => {
        this.#idleTimer.refresh();
        controller.resume();
      },
      destroy: (error, done) => {
        this.#close(true);
        done(error);
      },
    });
    // The body may fail before it is read. A later reader still gets the error.
    body.on('error', () => {});
    this.#responseBody = body;
    this.#deferred.resolve({
      status,
      headers: headers as StreamedResponse['headers'],
      body,
      closed: this.#closed.promise.then(() => undefined),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#idleTimer.refresh();
    if (this.#responseBody?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#responseBody?.push(null);
    this.#close(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(toOutboundError(error, this.#controller !== undefined));
  }

  readonly #abort = () => this.#fail(this.#request.signal.reason);

  async *#watchBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.#idleTimer.refresh();
      yield chunk;
    }
    this.#idleTimer.refresh();
  }

  #createTimeoutError(message: string, ms: number): OutboundError {
    const kind = this.#controller ? 'TIMEOUT' : 'UNREACHABLE';
    return new OutboundError(kind, `${message} ${ms / 1000} s.`);
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#deferred.reject(reason);
    this.#responseBody?.destroy(reason as Error);
    this.#close(true);
  }

  #close(isBroken: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#abort);
    // The receiver may respond before it has read the whole request body.
    this.#requestBody?.destroy();
    // The socket is closed, because its next response would begin with the unread rest of this one.
    if (isBroken) this.#controller?.abort(new Error('The exchange has ended.'));
    this.#closed.resolve(!isBroken);
  }
}
