/**
 * Tracks the resources of the process that one request occupies: a concurrency slot, a turn in the run queue, and slots
 * for requests to providers.
 */
import { DomainError } from '../../../../kernel/errors.ts';
import type { Meters } from '../../../../kernel/meters.ts';
import type { ExhaustedLimit, Holder } from '../../../../work/bounded-shares.ts';
import type { Turn } from '../../../../work/turns.ts';
import type { Viewer } from '../viewer.ts';
import { type ProcessShares, toHolder } from './process-shares.ts';

interface SlotHolder {
  caller?: string;
  project?: string;
}

const UNATTRIBUTED: SlotHolder = {};

const DISCONNECTED_DETAIL = 'The caller disconnected before the work began.';

export class RequestSlot {
  readonly #shares: ProcessShares;
  readonly #meters: Meters;
  /** The client's network. Null for an operation over a WebSocket, whose caller is known. */
  #network: string | null = null;
  /** The holder for which the request is counted while it occupies the process. Null before it is counted. */
  #holder: SlotHolder | null = null;
  /** `#holder` while the request is counted, and otherwise null. */
  #countedHolder: SlotHolder | null = null;
  /** Set while the work waits for its turn or runs. */
  #turn: Turn | null = null;
  #providerWaits = 0;
  #isReleased = false;

  constructor(shares: ProcessShares, meters: Meters) {
    this.#shares = shares;
    this.#meters = meters;
  }

  /** Counts a request that has arrived. Returns an error if the process is full. */
  countArrival(network: string): DomainError | null {
    this.#network = network;
    const exhaustedLimit = this.#countBy(UNATTRIBUTED);
    return exhaustedLimit && this.#shares.createLimitError('requests', exhaustedLimit);
  }

  /**
   * Counts the request by its network, because its caller is unknown: it has no credentials, or they must be looked up.
   * Throws SERVICE_UNAVAILABLE, not RATE_LIMITED, if the network's limit is reached, because other clients on the network
   * may have caused it.
   */
  countByNetwork(): void {
    if (this.#network === null) return;
    const exhaustedLimit = this.#countBy({ project: `network ${this.#network}` });
    if (exhaustedLimit === 'process')
      throw this.#shares.createLimitError('requests', exhaustedLimit);
    if (exhaustedLimit) throw this.#shares.createUnknownCallersError();
  }

  /** Counts the request by its caller from now on. Throws if the caller's share is exhausted or the process is full. */
  countByCaller(viewer: Viewer): void {
    const holder = toHolder(viewer);
    const { caller, project } = this.#countedHolder ?? {};
    if (caller === holder.caller && project === holder.project) return;
    const exhaustedLimit = this.#countBy(holder);
    if (exhaustedLimit) throw this.#shares.createLimitError('requests', exhaustedLimit);
  }

  /**
   * Starts the work of an admitted caller. Call `finishWork` when it is over. Returns undefined if the work starts
   * immediately. A returned promise resolves when the work may start, and rejects if it must not start.
   */
  startWork(weight: number): Promise<void> | undefined {
    const { project = '', caller = project } = this.#holder ?? {};
    const turn: Turn = { caller, project, weight };
    const turnPromise = this.#shares.turns.begin(turn);
    this.#turn = turn;
    this.#updateCount();
    return turnPromise?.then((hasTurn) => {
      if (hasTurn) return;
      this.#turn = null;
      this.#updateCount();
      throw this.#isReleased
        ? new DomainError('SERVICE_UNAVAILABLE', DISCONNECTED_DETAIL)
        : this.#shares.createTurnTimeoutError(turn);
    });
  }

  /** Ends the turn when the work is over, whether or not its result has been sent. */
  finishWork(): void {
    if (this.#turn && this.#providerWaits === 0) this.#shares.turns.end(this.#turn);
    this.#turn = null;
    this.#updateCount();
  }

  /**
   * Throws RATE_LIMITED or SERVICE_UNAVAILABLE if `waitForProvider` would throw for any connection. Call it before work
   * that ends with a request to a provider, so that a caller without a share left causes none of that work.
   */
  requireProviderShare(): void {
    this.#shares.requireUnit('providerRequests', this.#holder ?? {});
  }

  /**
   * Releases the slot while the work waits for a provider. Throws and changes nothing if too many requests wait for
   * providers. Call the returned function when the wait is over. The work then continues without waiting for a turn.
   */
  waitForProvider({
    projectId,
    connectionId,
  }: {
    projectId: string;
    connectionId?: string;
  }): () => void {
    const { caller } = this.#holder ?? {};
    const holder: Holder = {
      project: projectId,
      ...(caller !== undefined && { caller }),
      ...(connectionId !== undefined && { connection: connectionId }),
    };
    this.#shares.take('providerRequests', holder);
    this.#providerWaits += 1;
    if (this.#turn && this.#providerWaits === 1) this.#shares.turns.end(this.#turn);
    this.#updateCount();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#shares.get('providerRequests').release(holder);
      this.#providerWaits -= 1;
      if (this.#turn && this.#providerWaits === 0) this.#shares.turns.resume(this.#turn);
      this.#updateCount();
    };
  }

  /**
   * Releases the slot when the result has been sent, or its receiver has disconnected. Work that has begun is counted
   * until it ends.
   */
  release(): void {
    this.#isReleased = true;
    if (this.#turn?.decide) this.#shares.turns.end(this.#turn);
    this.#updateCount();
  }

  /** Counts the request for another holder. If the holder has exhausted a limit, returns it and does not count the request. */
  #countBy(holder: SlotHolder): ExhaustedLimit | null {
    this.#holder = null;
    this.#updateCount();
    const exhaustedLimit = this.#shares.get('requests').take(holder);
    if (exhaustedLimit) return exhaustedLimit;
    this.#holder = holder;
    this.#countedHolder = holder;
    this.#meters.activeChanged('requests', 1);
    this.#updateCount();
    return null;
  }

  /** Counts the request only while it occupies the process. Call it after each change of state. */
  #updateCount(): void {
    const isOver = this.#isReleased && !this.#turn;
    const holder = isOver || this.#providerWaits > 0 ? null : this.#holder;
    const previousHolder = this.#countedHolder;
    if (holder === previousHolder) return;
    this.#countedHolder = holder;
    const requests = this.#shares.get('requests');
    if (previousHolder) requests.release(previousHolder);
    if (holder) requests.add(holder);
    this.#meters.activeChanged('requests', holder ? 1 : -1);
  }
}
