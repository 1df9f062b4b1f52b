/**
 * Reads manifests and project documents. Small texts are parsed immediately, and large ones in a thread, where projects
 * take turns.
 */
import { Worker } from 'node:worker_threads';
import { rateLimited, ServiceUnavailable } from '../../../errors.ts';
import { withDeadline } from '../../../work/deadline.ts';
import {
  DOCUMENT_LENGTH_MAX,
  MANIFEST_LENGTH_MAX,
  type ReadDocument,
  type ReadJob,
  type ReadText,
  readDocumentText,
  readJob,
  readManifestText,
} from './manifest-text.ts';

/** Parsing a text of this length blocks the process's other requests for up to 20 ms; a text of 16 KiB took 70 ms. */
const INLINE_LENGTH_MAX = 4 * 1024;
/** The most texts of one project that wait for the thread. */
const WAITING_MAX = 8;
/** Far longer than any accepted text takes on a busy machine. */
const READ_MAX_MS = 10_000;
/** An accepted text takes less than 100 MB. */
const MEMORY_MAX_MB = 256;

interface WaitingText {
  job: ReadJob;
  resolve(read: ReadText | ReadDocument): void;
  reject(error: unknown): void;
}

interface ThreadLimits {
  readMaxMs?: number;
  memoryMaxMb?: number;
}

/** Reads small texts in this thread, and starts another thread for the first large text. */
export class ManifestReader implements AsyncDisposable {
  readonly #limits: Required<ThreadLimits>;
  /** The waiting texts by project, in the order of turns. After its turn, a project moves to the end. */
  readonly #projects = new Map<string, WaitingText[]>();
  #thread: Worker | null = null;
  #isReading = false;

  constructor({ readMaxMs = READ_MAX_MS, memoryMaxMb = MEMORY_MAX_MB }: ThreadLimits = {}) {
    this.#limits = { readMaxMs, memoryMaxMb };
  }

  /** Throws RATE_LIMITED if too many texts of the project wait. */
  async read(projectId: string, text: string): Promise<ReadText> {
    if (text.length > MANIFEST_LENGTH_MAX) return readManifestText(text);
    return (await this.#readInTurn(projectId, { text, paths: null })) as ReadText;
  }

  /** Throws RATE_LIMITED if too many texts of the project wait. */
  async readDocument(
    projectId: string,
    text: string,
    paths: readonly PropertyKey[][] = [],
  ): Promise<ReadDocument> {
    if (text.length > DOCUMENT_LENGTH_MAX) return readDocumentText(text, paths);
    const result = await this.#readInTurn(projectId, { text, paths });
    if (!('problem' in result)) return result as ReadDocument;
    return { faults: [{ detail: result.problem, line: 1, column: 1 }] };
  }

  async #readInTurn(projectId: string, job: ReadJob): Promise<ReadText | ReadDocument> {
    if (job.text.length <= INLINE_LENGTH_MAX) return readJob(job);
    const waitingTexts = this.#projects.get(projectId) ?? [];
    if (waitingTexts.length >= WAITING_MAX) {
      throw rateLimited(
        `The project already has ${WAITING_MAX} manifests that wait to be read. Send the next one when they are done.`,
        1,
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReadText | ReadDocument>();
    this.#projects.set(projectId, [...waitingTexts, { job, resolve, reject }]);
    if (!this.#isReading) void this.#readAll();
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const waitingTexts = [...this.#projects.values()].flat();
    this.#projects.clear();
    for (const { reject } of waitingTexts) reject(createStoppingError());
    await this.#thread?.terminate();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (let text = this.#takeNextText(); text; text = this.#takeNextText()) {
      await this.#readInThread(text.job).then(text.resolve, text.reject);
    }
    this.#isReading = false;
  }

  #takeNextText(): WaitingText | undefined {
    const [nextProject] = this.#projects;
    if (!nextProject) return undefined;
    const [projectId, [nextText, ...remainingTexts]] = nextProject;
    this.#projects.delete(projectId);
    if (remainingTexts.length > 0) this.#projects.set(projectId, remainingTexts);
    return nextText;
  }

  async #readInThread(job: ReadJob): Promise<ReadText | ReadDocument> {
    const thread = this.#ensureThread();
    const { readMaxMs } = this.#limits;
    const { promise, resolve, reject } = Promise.withResolvers<ReadText | ReadDocument>();
    const onError = ({ code }: NodeJS.ErrnoException) =>
      code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? resolve({ problem: 'takes too much memory to read.' })
        : reject(new Error('The thread that reads manifests failed.'));
    const onExit = () => reject(createStoppingError());
    thread.once('message', resolve).once('error', onError).once('exit', onExit);
    thread.postMessage(job);
    try {
      return await withDeadline(promise, readMaxMs, () => {
        this.#thread = null;
        void thread.terminate();
        return { problem: `takes longer than ${readMaxMs / 1000} seconds to read.` };
      });
    } finally {
      thread.off('message', resolve).off('error', onError).off('exit', onExit);
    }
  }

  #ensureThread(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(new URL('manifest-thread.ts', import.meta.url), {
      name: 'manifests',
      // The thread does not inherit flags of the process, such as an inspector's.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMaxMb },
    });
    // An error without a listener would end the process. The running read has its own listener.
    thread.on('error', () => {});
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null;
    });
    // An idle thread does not keep the process running.
    thread.unref();
    this.#thread = thread;
    return thread;
  }
}

function createStoppingError(): ServiceUnavailable {
  const cause = new Error('The thread that reads manifests was stopped.');
  return new ServiceUnavailable('The process is stopping.', { cause, retryAfterSeconds: 1 });
}
