/**
 * Detects failed nodes of a cluster. Each statement for a hanging node holds a connection of the process until its time
 * limit, so a few callers could hold all connections. A node on which no commit ends holds them too, although it responds
 * to reads. A node that is down fails each statement immediately, and each failure costs a connection.
 *
 * The watch probes a suspect node: it commits a change on a new connection. If the probe fails, the watch cancels the
 * statements that wait for the node, and refuses new statements for its projects until a probe succeeds
 * (docs/decisions/047-failed-nodes.md).
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';
import type { OnResult } from '../sessions/session.ts';

/** A few slow statements do not make their node suspect. */
const SLOW_STATEMENTS_MAX = 2;
/** A node that sends no response for this time, while more statements wait, is suspect. */
const SILENCE_MS = 500;
/** A statement that waits for this time is stuck, even if the node responds to other statements. */
const STUCK_MS = 1_000;
const POLL_MS = 250;
/** The interval between probes of a node that is away or has stuck statements. */
const PROBE_INTERVAL_MS = 1_000;

/** A session whose running statements fail when it is destroyed. */
export interface CancelableSession {
  destroy(): void;
}

interface WaitingStatement {
  session: CancelableSession;
  sinceMs: number;
}

interface NodeWatchOptions {
  /** Returns the node that has the project's rows. Undefined for a project that was created a moment ago. */
  findNode: (projectId: string) => number | undefined;
  /** Returns all nodes that have projects. */
  listNodes: () => number[];
  /** The probe: true if the node commits a change on a new connection in time. Throws if that cannot be determined. */
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
    this.#timer = setInterval(() => this.#probeDueNodes(), options.pollMs ?? POLL_MS).unref();
  }

  /** Returns the nodes that have the projects in a statement's values. */
  listStatementNodes(values: readonly unknown[]): number[] {
    const nodes = new Set<number>();
    for (const value of values.flat()) {
      const node = isProjectId(value) ? this.#options.findNode(value) : undefined;
      if (node !== undefined) nodes.add(node);
    }
    return [...nodes];
  }

  /** Returns the error for a statement that waits for these nodes, or null if it may be sent. */
  findRefusal(nodes: readonly number[]): ServiceUnavailable | null {
    return nodes.some((node) => this.isAway(node)) ? createRefusal() : null;
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

  #probeDueNodes(): void {
    for (const node of this.#nodes.values()) void node.probeIfDue();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Returns the error for a statement that is not sent, because no node that has its rows responds. */
export function createRefusal(): ServiceUnavailable {
  return new ServiceUnavailable(
    'The database server that has the rows of this project does not respond. Nothing was changed: retry after the time in Retry-After.',
    { cause: undefined, retryAfterSeconds: 2 },
  );
}

/** The result of a statement, reduced to the state of its node. */
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
  #probedMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;
  /** True if the coordinator has lost a connection to the node since the last probe. */
  #hasLostConnection = false;
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
      if (end === 'connectionLost') this.#hasLostConnection = true;
    };
  }

  async probeIfDue(): Promise<void> {
    const nowMs = performance.now();
    if (this.#isProbing || !this.#isProbeDue(nowMs)) return;
    this.#isProbing = true;
    this.#hasLostConnection = false;
    const stuckStatements = this.#listWaitingSince(nowMs - STUCK_MS);
    const isCommitting = await this.#canCommit().catch(() => null);
    this.#isProbing = false;
    this.#probedMs = performance.now();
    if (isCommitting === null) return;
    if (isCommitting) return this.#markBack();
    // A node that responds to its statements during a failed probe is slow, and not away.
    const areStillStuck = isTooMany(stuckStatements.filter((each) => this.#waiting.has(each)));
    if (this.isAway || this.#respondedMs < nowMs || areStillStuck) this.#markAway();
  }

  #isProbeDue(nowMs: number): boolean {
    const isIntervalOver = nowMs > this.#probedMs + PROBE_INTERVAL_MS;
    if (this.isAway) return isIntervalOver;
    const hasStuckStatements = isTooMany(this.#listWaitingSince(nowMs - STUCK_MS));
    return (
      this.#hasLostConnection || (isIntervalOver && hasStuckStatements) || this.#isSilent(nowMs)
    );
  }

  #isSilent(nowMs: number): boolean {
    const sinceMs = nowMs - SILENCE_MS;
    return this.#respondedMs < sinceMs && isTooMany(this.#listWaitingSince(sinceMs));
  }

  #listWaitingSince(sinceMs: number): WaitingStatement[] {
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
    for (const { session } of this.#waiting) session.destroy();
  }
}

function isTooMany(statements: readonly WaitingStatement[]): boolean {
  return statements.length > SLOW_STATEMENTS_MAX;
}

function isProjectId(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('prj_');
}
