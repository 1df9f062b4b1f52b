/**
 * Detects failed nodes of a cluster. A node that hangs neither refuses nor responds: every statement for it occupies a
 * connection of the coordinator until its time limit, and many of them would occupy all connections of the process. The
 * same happens on a node that responds to reads while no commit ends. A node that is gone fails each statement
 * immediately, and each failure costs a connection. So the watch opens a new connection to a node that is silent while
 * statements wait for it, that keeps some waiting for longer, or that the coordinator has lost. If the node commits no
 * change there either, the watch cancels the waiting statements and refuses new ones for its projects immediately,
 * until it commits again.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';
import type { OnResult } from '../sessions/session.ts';

/** So few statements may wait without limit, because a single slow statement is not a sign of a failure. */
const WAITING_FEW = 2;
const SILENCE_MS = 500;
/** A statement that waits longer may wait forever, even if others get responses. */
const STUCK_MS = 1_000;
const POLL_MS = 250;
/** The interval between checks of a node that is away or keeps statements waiting. */
const TRY_MS = 1_000;

/** A session whose statement can be cancelled from outside. */
export interface Cuttable {
  cut(): void;
}

interface Waiting {
  session: Cuttable;
  sinceMs: number;
}

export interface NodeWatchOptions {
  /** The node that has the project's rows. Undefined for a project that is not known yet. */
  nodeOf: (projectId: string) => number | undefined;
  /** All nodes that have projects. */
  nodes: () => number[];
  /** True if the node commits a change over a new connection in time. Throws if that cannot be determined. */
  answers: (node: number) => Promise<boolean>;
  log: Log;
  lookMs?: number;
}

export class NodeWatch implements Disposable {
  readonly #options: NodeWatchOptions;
  readonly #nodes = new Map<number, WatchedNode>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.lookMs ?? POLL_MS).unref();
  }

  /** The nodes of the projects in the values of a statement. */
  nodesOf(values: readonly unknown[]): number[] {
    const nodes = new Set<number>();
    for (const value of values.flat()) {
      const node = isProject(value) ? this.#options.nodeOf(value) : undefined;
      if (node !== undefined) nodes.add(node);
    }
    return [...nodes];
  }

  /** Returns the error for a statement of these nodes, or null if it may be sent. */
  refusalOf(nodes: readonly number[]): ServiceUnavailable | null {
    if (!nodes.some((node) => this.isAway(node))) return null;
    const about = { cause: undefined, retryAfterSeconds: 2 };
    return new ServiceUnavailable(
      'The database server that has the rows of this project does not answer. Nothing was done: try again after Retry-After.',
      about,
    );
  }

  allNodes(): number[] {
    return this.#options.nodes();
  }

  isAway(node: number): boolean {
    return this.#nodes.get(node)?.isAway ?? false;
  }

  get isAnyAway(): boolean {
    return this.#nodes.values().some(({ isAway }) => isAway);
  }

  /** Records that a statement waits for the nodes. The caller must pass its result to the returned callback. */
  waiting(nodes: readonly number[], session: Cuttable, take: OnResult): OnResult {
    const ends = nodes.map((node) => this.#watched(node).add(session));
    return (error, result) => {
      for (const end of ends) end(endOf(error));
      take(error, result);
    };
  }

  /** Records that work waits for one node until it ends. */
  async during<T>(node: number, session: Cuttable, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const take = this.waiting([node], session, (error, result) =>
      error ? reject(error) : resolve(result as T),
    );
    work().then((result) => take(null, result), take);
    return await promise;
  }

  #watched(node: number): WatchedNode {
    const known = this.#nodes.get(node);
    if (known) return known;
    const { answers: responses, log } = this.#options;
    const watched = new WatchedNode({ node, log, answers: () => responses(node) });
    this.#nodes.set(node, watched);
    return watched;
  }

  #look(): void {
    for (const watched of this.#nodes.values()) void watched.look();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The state of a node that the end of a statement shows. */
type End = 'answer' | 'lost' | 'nothing';

/** The SQLSTATE class of connection errors, which the coordinator also reports for its connections to nodes. */
const CONNECTION_STATES = '08';

function endOf(error: unknown): End {
  if (!(error instanceof ServiceUnavailable)) return 'answer';
  const { cause } = error;
  const isLost = cause instanceof pg.DatabaseError && cause.code?.startsWith(CONNECTION_STATES);
  return isLost ? 'lost' : 'nothing';
}

class WatchedNode {
  readonly #node: number;
  readonly #answers: () => Promise<boolean>;
  readonly #outage: Outage;
  readonly #waiting = new Set<Waiting>();
  #answeredMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #isTried = false;
  #isLost = false;
  isAway = false;

  constructor({
    node,
    log,
    answers: responses,
  }: { node: number; log: Log; answers(): Promise<boolean> }) {
    this.#node = node;
    this.#answers = responses;
    this.#outage = new Outage(log, 'node.away');
  }

  add(session: Cuttable): (end: End) => void {
    const waiting = { session, sinceMs: performance.now() };
    this.#waiting.add(waiting);
    return (end) => {
      this.#waiting.delete(waiting);
      if (end === 'answer') this.#answeredMs = performance.now();
      if (end === 'lost') this.#isLost = true;
    };
  }

  async look(): Promise<void> {
    const nowMs = performance.now();
    if (this.#isTried || !this.#isToBeTried(nowMs)) return;
    this.#isTried = true;
    this.#isLost = false;
    const stuck = this.#waitingSince(nowMs - STUCK_MS);
    const responses = await this.#answers().catch(() => null);
    this.#isTried = false;
    this.#triedMs = performance.now();
    if (responses === true) this.#isBack();
    else if (responses === false && (this.isAway || this.#answersNobody(nowMs, stuck)))
      this.#isGone();
  }

  /** True if no statement got a response since then, or none of those that have waited for long. */
  #answersNobody(sinceMs: number, stuck: readonly Waiting[]): boolean {
    return this.#answeredMs < sinceMs || isMany(stuck.filter((one) => this.#waiting.has(one)));
  }

  #isToBeTried(nowMs: number): boolean {
    const isTime = nowMs > this.#triedMs + TRY_MS;
    if (this.isAway) return isTime;
    const isStuck = isTime && isMany(this.#waitingSince(nowMs - STUCK_MS));
    return this.#isLost || isStuck || this.#isSilent(nowMs);
  }

  #isSilent(nowMs: number): boolean {
    const sinceMs = nowMs - SILENCE_MS;
    return isMany(this.#waitingSince(sinceMs)) && this.#answeredMs < sinceMs;
  }

  #waitingSince(sinceMs: number): Waiting[] {
    return [...this.#waiting].filter((one) => one.sinceMs < sinceMs);
  }

  #isBack(): void {
    this.isAway = false;
    this.#answeredMs = performance.now();
    this.#outage.ended();
  }

  #isGone(): void {
    this.isAway = true;
    this.#outage.failed(undefined, { node: this.#node, waiting: this.#waiting.size });
    for (const { session } of this.#waiting) session.cut();
  }
}

function isMany(waiting: readonly Waiting[]): boolean {
  return waiting.length > WAITING_FEW;
}

function isProject(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('prj_');
}
