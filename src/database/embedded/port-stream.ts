/** A connection to the thread of the embedded database, in the form that `pg` has its sockets in. */
import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

type OnWritten = (error?: Error | null) => void;

/** Whoever runs the thread destroys it when that ends: a port alone does not tell why. */
export class PortStream extends Duplex {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('message', (bytes: Uint8Array) => {
      this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    });
  }

  connect(): this {
    process.nextTick(() => {
      if (!this.destroyed) this.emit('connect');
    });
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.#port.ref();
    return this;
  }

  unref(): this {
    this.#port.unref();
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, written: OnWritten): void {
    // A copy of its own: of a slice, the whole memory that it is cut from would be sent.
    this.#port.postMessage(new Uint8Array(chunk));
    written();
  }

  /** What is written together is sent together, and run in one go. */
  override _writev(chunks: { chunk: Buffer }[], written: OnWritten): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer', written);
  }

  override _final(written: OnWritten): void {
    written();
    // The other side has no farewell of its own.
    this.destroy();
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.#port.close();
    destroyed(error);
  }
}
