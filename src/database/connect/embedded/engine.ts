/**
 * The embedded database as other threads see it: a server that accepts connections. If it ends because the disk is
 * full, it is reopened until it stays open. If it ends for any other reason, the process must end too.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { StartRefused } from '../../../kernel/errors.ts';
import { type Backoff, computeBackoffMs } from '../../../work/backoff.ts';
import { endWithin } from '../../../work/deadline.ts';
import type { FixedAddress } from '../sessions/database-session.ts';
import {
  type CopyResult,
  createEngineFailure,
  type FromEngine,
  isDiskFull,
  type ToEngine,
} from './engine-messages.ts';
import { PortStream } from './port-stream.ts';

const CLOSE_TIMEOUT_MS = 5_000;
const REOPEN: Backoff = { firstMs: 500, maxMs: 5_000 };

export interface EngineOptions {
  /** The module that the thread runs, and its data. */
  module: URL;
  data: unknown;
  /** Called when the engine has crashed. Pending statements will never get a response. */
  onCrash: (failure: Error) => void;
  /**
   * The time for the last checkpoint. If the checkpoint takes longer, the next start replays the log. Default:
   * CLOSE_TIMEOUT_MS.
   */
  closeTimeoutMs?: number;
}

export class Engine implements AsyncDisposable {
  readonly address: FixedAddress;
  readonly #options: EngineOptions;
  readonly #streams = new Set<PortStream>();
  readonly #copies = new Map<string, (result: CopyResult) => void>();
  #thread: Worker | undefined;
  /** Resolves when the thread has ended. */
  #threadEnd = Promise.resolve();
  /** The reason why the engine is not open. Null while it is open. */
  #failure: Error | null = new Error('The database is not open yet.');
  #isClosing = false;

  /** Starts an engine and waits until it is open. Throws StartRefused. */
  static async start(options: EngineOptions): Promise<Engine> {
    const engine = new Engine(options);
    await engine.#open().catch((failure: Error) => {
      if (!isDiskFull(failure)) throw failure;
      throw new StartRefused(`The disk has no space for the database: ${failure.message}`);
    });
    return engine;
  }

  private constructor(options: EngineOptions) {
    this.#options = options;
    const stream = () => this.#connect();
    this.address = { stream, user: 'postgres', database: 'postgres', ssl: false };
  }

  /** Takes at most a few seconds, even during a longer statement. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    if (this.#failure === null) {
      this.#thread?.postMessage('close' satisfies ToEngine);
      await endWithin(this.#threadEnd, this.#options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS);
    }
    await this.#thread?.terminate();
  }

  /**
   * Copies the files to a folder that does not exist yet. Statements wait until it is done. Returns the error, or null.
   */
  async copyTo(folder: string): Promise<string | null> {
    if (this.#failure) return this.#failure.message;
    const { promise, resolve } = Promise.withResolvers<CopyResult>();
    this.#copies.set(folder, resolve);
    this.#thread?.postMessage({ copyTo: folder } satisfies ToEngine);
    return (await promise).failure;
  }

  #endCopy(result: CopyResult): void {
    this.#copies.get(result.copiedTo)?.(result);
    this.#copies.delete(result.copiedTo);
  }

  #connect(): PortStream {
    const { port1, port2 } = new MessageChannel();
    const stream = new PortStream(port1);
    const failure = this.#failure;
    if (failure) {
      process.nextTick(() => stream.destroy(failure));
    } else {
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      this.#thread?.postMessage(port2 satisfies ToEngine, [port2]);
    }
    return stream;
  }

  async #open(): Promise<void> {
    const { module, data } = this.#options;
    // The flags of the process, such as --import and --inspect, are not meant for this thread.
    const thread = new Worker(module, { name: 'database', workerData: data, execArgv: [] });
    this.#thread = thread;
    let lastMessage: FromEngine | undefined;
    let threadError: unknown;
    const firstMessage = Promise.withResolvers<void>();
    thread.on('message', (message: FromEngine | CopyResult) => {
      if (typeof message === 'object' && 'copiedTo' in message) return this.#endCopy(message);
      lastMessage = message;
      firstMessage.resolve();
    });
    thread.on('error', (error) => {
      threadError = error;
    });
    const exit = once(thread, 'exit');
    await Promise.race([firstMessage.promise, exit]);
    if (lastMessage !== 'open') {
      await exit;
      throw createEngineFailure(lastMessage, threadError);
    }
    this.#failure = null;
    this.#threadEnd = exit.then(() => this.#fail(createEngineFailure(lastMessage, threadError)));
  }

  #fail(failure: Error): void {
    this.#failure = failure;
    for (const copiedTo of this.#copies.keys()) {
      this.#endCopy({ copiedTo, failure: failure.message });
    }
    for (const stream of this.#streams) stream.destroy(failure);
    if (this.#isClosing) return;
    if (isDiskFull(failure)) void this.#reopen();
    else this.#options.onCrash(failure);
  }

  async #reopen(): Promise<void> {
    for (let failures = 1; this.#failure && !this.#isClosing; failures += 1) {
      await sleep(computeBackoffMs(REOPEN, failures), undefined, { ref: false });
      if (this.#isClosing) return;
      await this.#open().catch((failure: Error) => {
        if (!isDiskFull(failure) && !this.#isClosing) this.#options.onCrash(failure);
      });
    }
  }
}

/** Starts the engine on the data folder, which this process has locked. */
export function startEngine(dataDir: string, onCrash: EngineOptions['onCrash']): Promise<Engine> {
  const module = new URL('./engine-thread.ts', import.meta.url);
  return Engine.start({ module, data: dataDir, onCrash });
}
