/**
 * Detects failed nodes of a cluster. Every statement for a node that hangs occupies a connection of the coordinator until
 * its time limit, and many of them would occupy all connections of the process. The same happens on a node that responds
 * to reads while no commit ends. A node that is gone fails each statement immediately, and each failure costs a
 * connection.
 *
 * The watch therefore opens a new connection to a node that is silent while statements wait for it, that keeps some of
 * them waiting for longer, or that the coordinator has lost. If the node commits no change there either, the watch cancels
 * the waiting statements, and refuses new ones for its projects until it commits again.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';
import type { OnResult } from '../sessions/session.ts';

/** The number of statements that may wait without a check, because a few slow statements are no sign of a failure. */
const WAITING_FEW_MAX = 2;
const SILENCE_MS = 500;
/** A statement that waits longer may wait forever, even if others get responses. */
const STUCK_MS = 1_000;
const POLL_MS = 250;
/** The interval between checks of a node that is away or keeps statements waiting. */
const RECHECK_MS = 1_000;

/** A session whose running statements fail when it is cut. */
export interface CancelableSession {
  cut(): void;
}

interface WaitingStatement {
  session: CancelableSession;
  sinceMs: number;
}

interface NodeWatchOptions {
  /** The node that has the project's rows. Undefined for a project that is not known yet. */
  findNode: (projectId: string) => number | undefined;
  /** Returns all nodes that have projects. */
  listNodes: () => number[];
  /** True if the node commits a change over a new connection in time. Throws if that cannot be determined. */
  canCommit: (node: number) => Promise<boolean>;
  log: Log;
  pollMs?: number;
}

export class NodeWatch implements Disposable {
  readonly #options: NodeWatchOptions;
  readonly #nodes = new Map<number, WatchedNode>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#checkAll(), options.pollMs ?? POLL_MS).unref();
  }

  /** Returns the nodes that have the projects in a statement's values. */
  listStatementNodes(values: readonly unknown[]): number[] {
    const nodes = new Set<number>();
    for (const value of values.flat()) {
      const node = isProject(value) ? this.#options.findNode(value) : undefined;
      if (node !== undefined) nodes.add(node);
    }
    return [...nodes];
  }

  /** Returns the error for a statement of these nodes, or null if it may be sent. */
  findRefusal(nodes: readonly number[]): ServiceUnavailable | null {
    if (!nodes.some((node) => this.isAway(node))) return null;
    const options = { cause: undefined, retryAfterSeconds: 2 };
    return new ServiceUnavailable(
      'The database server that has the rows of this project does not respond. Nothing was changed: retry after the time in Retry-After.',
      options,
    );
  }

  listAllNodes(): number[] {
    return this.#options.listNodes();
  }

  isAway(node: number): boolean {
    return this.#nodes.get(node)?.isAway ?? false;
  }

  get isAnyAway(): boolean {
    return this.#nodes.values().some(({ isAway }) => isAway);
  }

  /** Records that a statement waits for the nodes. The caller must pass its result to the returned callback. */
  watchStatement(
    nodes: readonly number[],
    session: CancelableSession,
    onResult: OnResult,
  ): OnResult {
    const endCallbacks = nodes.map((node) => this.#getWatchedNode(node).add(session));
    return (error, result) => {
      for (const end of endCallbacks) end(toStatementEnd(error));
      onResult(error, result);
    };
  }

  /** Records that work waits for one node until it ends. */
  async watchWork<T>(node: number, session: CancelableSession, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const onEnd = this.watchStatement([node], session, (error, result) =>
      error ? reject(error) : resolve(result as T),
    );
    work().then((result) => onEnd(null, result), onEnd);
    return await promise;
  }

  #getWatchedNode(node: number): WatchedNode {
    const existingNode = this.#nodes.get(node);
    if (existingNode) return existingNode;
    const { canCommit, log } = this.#options;
    const watchedNode = new WatchedNode({ node, log, canCommit: () => canCommit(node) });
    this.#nodes.set(node, watchedNode);
    return watchedNode;
  }

  #checkAll(): void {
    for (const node of this.#nodes.values()) void node.check();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The end of a statement, as far as it shows the state of its node. */
type StatementEnd = 'responded' | 'connectionLost' | 'timedOut';

/** The SQLSTATE class of connection errors, which the coordinator also reports for its connections to nodes. */
const CONNECTION_STATES = '08';

function toStatementEnd(error: unknown): StatementEnd {
  if (!(error instanceof ServiceUnavailable)) return 'responded';
  const { cause } = error;
  const isLost = cause instanceof pg.DatabaseError && cause.code?.startsWith(CONNECTION_STATES);
  return isLost ? 'connectionLost' : 'timedOut';
}

class WatchedNode {
  readonly #node: number;
  readonly #canCommit: () => Promise<boolean>;
  readonly #outage: Outage;
  readonly #waiting = new Set<WaitingStatement>();
  #respondedMs = Number.NEGATIVE_INFINITY;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #isChecking = false;
  #isLost = false;
  isAway = false;

  constructor({ node, log, canCommit }: { node: number; log: Log; canCommit(): Promise<boolean> }) {
    this.#node = node;
    this.#canCommit = canCommit;
    this.#outage = new Outage(log, 'node.away');
  }

  add(session: CancelableSession): (end: StatementEnd) => void {
    const statement = { session, sinceMs: performance.now() };
    this.#waiting.add(statement);
    return (end) => {
      this.#waiting.delete(statement);
      if (end === 'responded') this.#respondedMs = performance.now();
      if (end === 'connectionLost') this.#isLost = true;
    };
  }

  async check(): Promise<void> {
    const nowMs = performance.now();
    if (this.#isChecking || !this.#isCheckDue(nowMs)) return;
    this.#isChecking = true;
    this.#isLost = false;
    const stuckStatements = this.#waitingSince(nowMs - STUCK_MS);
    const isCommitting = await this.#canCommit().catch(() => null);
    this.#isChecking = false;
    this.#checkedMs = performance.now();
    if (isCommitting === true) this.#markBack();
    else if (
      isCommitting === false &&
      (this.isAway || this.#hasNoResponses(nowMs, stuckStatements))
    )
      this.#markAway();
  }

  /** True if no statement got a response since `sinceMs`, or if many of the stuck statements still wait. */
  #hasNoResponses(sinceMs: number, stuckStatements: readonly WaitingStatement[]): boolean {
    return (
      this.#respondedMs < sinceMs ||
      isManyWaiting(stuckStatements.filter((statement) => this.#waiting.has(statement)))
    );
  }

  #isCheckDue(nowMs: number): boolean {
    const isRetryDue = nowMs > this.#checkedMs + RECHECK_MS;
    if (this.isAway) return isRetryDue;
    const isStuck = isRetryDue && isManyWaiting(this.#waitingSince(nowMs - STUCK_MS));
    return this.#isLost || isStuck || this.#isSilent(nowMs);
  }

  #isSilent(nowMs: number): boolean {
    const sinceMs = nowMs - SILENCE_MS;
    return isManyWaiting(this.#waitingSince(sinceMs)) && this.#respondedMs < sinceMs;
  }

  #waitingSince(sinceMs: number): WaitingStatement[] {
    return [...this.#waiting].filter((statement) => statement.sinceMs < sinceMs);
  }

  #markBack(): void {
    this.isAway = false;
    this.#respondedMs = performance.now();
    this.#outage.end();
  }

  #markAway(): void {
    this.isAway = true;
    this.#outage.recordFailure(undefined, { node: this.#node, waiting: this.#waiting.size });
    for (const { session } of this.#waiting) session.cut();
  }
}

function isManyWaiting(statements: readonly WaitingStatement[]): boolean {
  return statements.length > WAITING_FEW_MAX;
}

function isProject(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('prj_');
}
