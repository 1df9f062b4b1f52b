/**
 * Detects failed nodes of a cluster. Each statement for a hanging node holds a connection of the process until its time
 * limit, so a few callers could hold all connections. A node on which no commit ends holds them too, although it responds
 * to reads. A node that is down fails each statement immediately, and each failure costs a connection.
 *
 * The watch probes a suspect node: it commits a change on a new connection. If the probe fails, the watch cancels the
 * statements that wait for the node, and refuses new statements for its projects until a probe succeeds
 * (docs/decisions/047-failed-nodes.md).
 */
import { ServiceUnavailable } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { Outage } from '../../work/outage.ts';
import type { DatabaseSession } from '../connect/sessions/database-session.ts';

/** A few slow statements do not make their node suspect. */
const SLOW_STATEMENTS_MAX = 2;
/** A statement that waits for this time is slow. */
const SLOW_MS = 500;
const POLL_MS = 250;
/** The shortest time between two probes of a node. */
const PROBE_INTERVAL_MS = 1_000;

/** A session whose running statements fail when it is destroyed. */
type CancelableSession = Pick<DatabaseSession, 'destroy'>;

/** Must be called when the statement has ended, with its error or null. */
type OnStatementEnd = (error: unknown) => void;

interface NodeWatchOptions {
  /** The probe: true if the node commits a change on a new connection in time. Throws if that cannot be determined. */
  canCommit: (nodeId: number) => Promise<boolean>;
  log: Log;
  pollMs?: number;
}

export class NodeWatch implements Disposable {
  readonly #options: NodeWatchOptions;
  readonly #nodes = new Map<number, WatchedNode>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
    const probeDueNodes = () => {
      for (const node of this.#nodes.values()) void node.probeIfDue();
    };
    this.#timer = setInterval(probeDueNodes, options.pollMs ?? POLL_MS).unref();
  }

  /** Records that a statement of the session waits for the nodes. */
  begin(nodeIds: readonly number[], session: CancelableSession): OnStatementEnd {
    const endCallbacks = nodeIds.map((id) => this.#getNode(id).begin(session));
    return (error) => {
      for (const onEnd of endCallbacks) onEnd(error);
    };
  }

  isUnreachable(nodeId: number): boolean {
    return this.#nodes.get(nodeId)?.isUnreachable ?? false;
  }

  /** True if the node is unreachable, or has failed a statement and not passed a probe since. */
  isSuspect(nodeId: number): boolean {
    return this.#nodes.get(nodeId)?.isSuspect ?? false;
  }

  get isAnyUnreachable(): boolean {
    return this.#nodes.values().some(({ isUnreachable }) => isUnreachable);
  }

  /** Returns the error for a statement that would wait for these nodes, or null if it may be sent. */
  findRefusal(nodeIds: readonly number[]): ServiceUnavailable | null {
    return nodeIds.some((id) => this.isUnreachable(id)) ? createRefusal() : null;
  }

  #getNode(id: number): WatchedNode {
    const existingNode = this.#nodes.get(id);
    if (existingNode) return existingNode;
    const node = new WatchedNode(id, this.#options);
    this.#nodes.set(id, node);
    return node;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Returns the error for a statement that is not sent, because the nodes that have its rows are unreachable. */
export function createRefusal(): ServiceUnavailable {
  return new ServiceUnavailable(
    'The database server that has the rows of this project does not respond. Nothing was changed: retry after the time in Retry-After.',
    { cause: undefined, retryAfterSeconds: 2 },
  );
}

interface WaitingStatement {
  session: CancelableSession;
  sinceMs: number;
}

class WatchedNode {
  readonly #id: number;
  readonly #canCommit: NodeWatchOptions['canCommit'];
  readonly #outage: Outage;
  readonly #waiting = new Set<WaitingStatement>();
  #respondedMs = Number.NEGATIVE_INFINITY;
  #probedMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;
  isUnreachable = false;
  isSuspect = false;

  constructor(id: number, { canCommit, log }: NodeWatchOptions) {
    this.#id = id;
    this.#canCommit = canCommit;
    this.#outage = new Outage(log, 'cluster_node.unreachable');
  }

  begin(session: CancelableSession): OnStatementEnd {
    const statement = { session, sinceMs: performance.now() };
    this.#waiting.add(statement);
    return (error) => {
      this.#waiting.delete(statement);
      if (error instanceof ServiceUnavailable) this.isSuspect = true;
      else this.#respondedMs = performance.now();
    };
  }

  async probeIfDue(): Promise<void> {
    const nowMs = performance.now();
    const slowStatements = [...this.#waiting].filter(({ sinceMs }) => sinceMs < nowMs - SLOW_MS);
    if (slowStatements.length <= SLOW_STATEMENTS_MAX && !this.isSuspect) return;
    if (this.#isProbing || nowMs < this.#probedMs + PROBE_INTERVAL_MS) return;
    this.#isProbing = true;
    const isCommitting = await this.#canCommit(this.#id).catch(() => null);
    this.#isProbing = false;
    this.#probedMs = performance.now();
    if (isCommitting) this.#markBack();
    if (isCommitting !== false) return;
    // A node that responds to its statements during a failed probe is slow, and not unreachable.
    const stillWaiting = slowStatements.filter((statement) => this.#waiting.has(statement));
    const isStuck = stillWaiting.length > SLOW_STATEMENTS_MAX;
    if (this.isUnreachable || this.#respondedMs < nowMs || isStuck) this.#markUnreachable();
  }

  #markBack(): void {
    this.isUnreachable = false;
    this.isSuspect = false;
    this.#outage.end();
  }

  #markUnreachable(): void {
    this.isUnreachable = true;
    this.isSuspect = true;
    this.#outage.recordFailure(undefined, { node: this.#id, waiting: this.#waiting.size });
    for (const { session } of this.#waiting) session.destroy();
  }
}
