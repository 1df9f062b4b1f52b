/** A connection to the thread of the embedded database, in the form of a socket for `pg`. */
import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

type OnWritten = (error?: Error | null) => void;

/**
 * The owner of the thread destroys the stream when the thread ends, because a port alone does not report the reason.
 */
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
    // Copied, because posting a slice would send the whole buffer that it is part of.
    this.#port.postMessage(new Uint8Array(chunk));
    written();
  }

  /** Sends chunks that are written together as one message, which the database executes in one go. */
  override _writev(chunks: { chunk: Buffer }[], written: OnWritten): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer', written);
  }

  override _final(written: OnWritten): void {
    written();
    // The protocol of the ports has no half-closed state.
    this.destroy();
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.#port.close();
    destroyed(error);
  }
}
