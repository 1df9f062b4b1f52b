/**
 * Reads manifests, project documents and provider documents. Small texts are parsed immediately, and large ones in two
 * threads, where projects take turns. Texts that are longer than a manifest wait in a thread of their own, because each
 * may take seconds.
 */
import { Worker } from 'node:worker_threads';
import { invalidInput, rateLimited, ServiceUnavailable } from '../../../../kernel/errors.ts';
import type { Path } from '../../../../kernel/text.ts';
import {
  PROVIDER_DOCUMENT_LENGTH_MAX,
  type ProviderDocument,
} from '../../../../providers/document/provider-document.ts';
import { withDeadline } from '../../../../work/deadline.ts';
import {
  DOCUMENT_LENGTH_MAX,
  type DocumentResult,
  MANIFEST_LENGTH_MAX,
  type ProviderReadJob,
  type Reading,
  type ReadJob,
  readDocumentText,
  readText,
} from './manifest-text.ts';

/** Longer texts are parsed in a thread. A text of this length blocks other requests for up to 20 ms. */
const INLINE_LENGTH_MAX = 4 * 1024;
/** The maximum number of texts of one project that wait for a thread. */
const WAITING_MAX = 8;
/** The time limit of one text. No accepted text takes nearly as long, even on a busy machine. */
const READ_TIMEOUT_MS = 10_000;
/** The memory of a thread. An accepted text takes less than 100 MB. */
const MEMORY_MB_MAX = 256;

interface WaitingText {
  job: ReadJob | ProviderReadJob;
  resolve(result: Reading): void;
  reject(error: unknown): void;
}

interface ThreadLimits {
  readTimeoutMs?: number;
  memoryMbMax?: number;
}

/** Reads small texts in the main thread. The first large text starts another thread. */
export class ManifestReader implements AsyncDisposable {
  readonly #manifests: ReadingThread;
  readonly #documents: ReadingThread;

  constructor({ readTimeoutMs = READ_TIMEOUT_MS, memoryMbMax = MEMORY_MB_MAX }: ThreadLimits = {}) {
    const limits = { readTimeoutMs, memoryMbMax };
    this.#manifests = new ReadingThread('manifests', limits);
    this.#documents = new ReadingThread('documents', limits);
  }

  /** Reads a manifest. Throws RATE_LIMITED if too many texts of the project wait. */
  async read(
    projectId: string,
    text: string,
    paths: readonly PropertyKey[][] = [],
  ): Promise<DocumentResult> {
    const isTooLong = text.length > MANIFEST_LENGTH_MAX;
    if (isTooLong) return readDocumentText({ text, paths }, MANIFEST_LENGTH_MAX);
    return this.readDocument(projectId, text, paths);
  }

  /** Reads a project document. Throws RATE_LIMITED if too many texts of the project wait. */
  async readDocument(
    projectId: string,
    text: string,
    paths: readonly PropertyKey[][] = [],
  ): Promise<DocumentResult> {
    const job = { text, paths };
    const { length } = text;
    const isInline = length <= INLINE_LENGTH_MAX || length > DOCUMENT_LENGTH_MAX;
    if (isInline) return readDocumentText(job);
    return this.#findThread(text).read(projectId, job) as Promise<DocumentResult>;
  }

  /**
   * Reads a provider document. Throws BAD_USER_INPUT with all of its problems, and RATE_LIMITED if too many texts of the
   * project wait. `path` is that of the text in the caller's input.
   */
  async readProvider(projectId: string, text: string, path: Path): Promise<ProviderDocument> {
    const job = { text, path };
    const isInline = text.length <= INLINE_LENGTH_MAX || text.length > PROVIDER_DOCUMENT_LENGTH_MAX;
    const result = isInline ? readText(job) : await this.#findThread(text).read(projectId, job);
    if ('document' in result) return result.document;
    if ('issues' in result) throw invalidInput(result.issues);
    const faults = 'faults' in result ? result.faults : [];
    throw invalidInput(faults.map((fault) => ({ path, ...fault })));
  }

  #findThread(text: string): ReadingThread {
    return text.length > MANIFEST_LENGTH_MAX ? this.#documents : this.#manifests;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#manifests, this.#documents].map((thread) => thread.stop()));
  }
}

/** A thread that parses one text at a time, and the texts that wait for it. */
class ReadingThread {
  readonly #name: string;
  readonly #limits: Required<ThreadLimits>;
  /** The waiting texts by project, in the order of turns. After its turn, a project moves to the end. */
  readonly #textsByProject = new Map<string, WaitingText[]>();
  #thread: Worker | null = null;
  #isReading = false;

  constructor(name: string, limits: Required<ThreadLimits>) {
    this.#name = name;
    this.#limits = limits;
  }

  /** Throws RATE_LIMITED if too many texts of the project wait. */
  async read(projectId: string, job: ReadJob | ProviderReadJob): Promise<Reading> {
    const waitingTexts = this.#textsByProject.get(projectId) ?? [];
    if (waitingTexts.length >= WAITING_MAX) {
      throw rateLimited(
        `The project already has ${WAITING_MAX} documents that wait to be read. Send the next one when they are done.`,
        1,
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<Reading>();
    this.#textsByProject.set(projectId, [...waitingTexts, { job, resolve, reject }]);
    if (!this.#isReading) void this.#readAll();
    return promise;
  }

  async stop(): Promise<void> {
    const waitingTexts = [...this.#textsByProject.values()].flat();
    this.#textsByProject.clear();
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
    const [nextProject] = this.#textsByProject;
    if (!nextProject) return undefined;
    const [projectId, [nextText, ...remainingTexts]] = nextProject;
    this.#textsByProject.delete(projectId);
    if (remainingTexts.length > 0) this.#textsByProject.set(projectId, remainingTexts);
    return nextText;
  }

  async #readInThread(job: ReadJob | ProviderReadJob): Promise<Reading> {
    const thread = this.#ensureThread();
    const { readTimeoutMs } = this.#limits;
    const { promise, resolve, reject } = Promise.withResolvers<Reading>();
    const onError = ({ code }: NodeJS.ErrnoException) =>
      code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? resolve(createFault('takes too much memory to read.'))
        : reject(new Error('The thread that reads manifests failed.'));
    const onExit = () => reject(createStoppingError());
    thread.once('message', resolve).once('error', onError).once('exit', onExit);
    thread.postMessage(job);
    try {
      return await withDeadline(promise, readTimeoutMs, () => {
        this.#thread = null;
        void thread.terminate();
        return createFault(`takes longer than ${readTimeoutMs / 1000} seconds to read.`);
      });
    } finally {
      thread.off('message', resolve).off('error', onError).off('exit', onExit);
    }
  }

  #ensureThread(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(new URL('manifest-thread.ts', import.meta.url), {
      name: this.#name,
      // The thread does not inherit flags of the process, such as an inspector's.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMbMax },
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

function createFault(detail: string): DocumentResult {
  return { faults: [{ detail, line: 1, column: 1 }] };
}

function createStoppingError(): ServiceUnavailable {
  const cause = new Error('The thread that reads manifests was stopped.');
  return new ServiceUnavailable('The process is stopping.', { cause, retryAfterSeconds: 1 });
}
