/**
 * What one request holds of its process, from its arrival to its end: one of the requests, a turn while it runs, and
 * one of the requests that wait for a provider while it does. It knows no transport: HTTP, REST, GraphQL and WebSockets
 * use it alike.
 */
import { DomainError } from '../../../errors.ts';
import type { Meters } from '../../../meters.ts';
import type { Holder } from '../../../work/bounded-shares.ts';
import type { Turn } from '../../../work/turns.ts';
import type { Viewer } from '../viewer.ts';
import { holderOf, type ProcessShares } from './process-shares.ts';

interface SlotHolder {
  caller?: string;
  project?: string;
}

const UNATTRIBUTED: SlotHolder = {};

export class RequestSlot {
  readonly #shares: ProcessShares;
  readonly #meters: Meters;
  /** Of the client; null for an operation over a WebSocket, whose caller is known. */
  #network: string | null = null;
  /** Null until it is counted. */
  #holder: SlotHolder | null = null;
  #isCounted = false;
  /** While the work waits for its turn or runs. */
  #turn: Turn | null = null;
  #providerWaits = 0;
  #hasLeft = false;

  constructor(shares: ProcessShares, meters: Meters) {
    this.#shares = shares;
    this.#meters = meters;
  }

  /** Counts a request that has arrived. Returns the refusal if the process is full. */
  enter(network: string): DomainError | null {
    this.#network = network;
    const usedUp = this.#shares.of('requests').take(UNATTRIBUTED);
    if (usedUp) return this.#shares.refusal('requests', usedUp);
    this.#counted(UNATTRIBUTED);
    return null;
  }

  /**
   * Counts the request by its network, because its caller is unknown: it shows no credentials, or they have to be looked
   * up. Throws SERVICE_UNAVAILABLE if there is no room: a caller is not to blame for others of its network.
   */
  enterUnknown(): void {
    if (this.#network === null) return;
    this.#uncount();
    const holder = { project: `network ${this.#network}` };
    const usedUp = this.#shares.of('requests').take(holder);
    if (usedUp === 'process') throw this.#shares.refusal('requests', usedUp);
    if (usedUp) throw this.#shares.noRoomForUnknown();
    this.#counted(holder);
  }

  /** Counts the request by its caller from now on. Throws if the caller's share is used up, or the process is full. */
  admit(viewer: Viewer): void {
    const holder = holderOf(viewer);
    const { caller, project } = this.#holder ?? {};
    if (this.#isCounted && caller === holder.caller && project === holder.project) return;
    this.#uncount();
    this.#shares.take('requests', holder);
    this.#counted(holder);
  }

  /**
   * Begins the work of an admitted caller: call `end` when it is over. Undefined if it begins now; otherwise it begins
   * when the promise resolves, and never if that rejects.
   */
  begin(weight: number): Promise<void> | undefined {
    const { project = '', caller = project } = this.#holder ?? {};
    const turn: Turn = { caller, project, weight };
    const waiting = this.#shares.turns.begin(turn);
    this.#turn = turn;
    return waiting?.then((begins) => {
      if (begins) return;
      this.#turn = null;
      if (this.#hasLeft) this.#uncount();
      throw this.#hasLeft
        ? new DomainError('SERVICE_UNAVAILABLE', GONE)
        : this.#shares.lateTurn(turn);
    });
  }

  /** The work is over, whether or not its result has been sent. */
  end(): void {
    const turn = this.#turn;
    this.#turn = null;
    if (turn && this.#providerWaits === 0) this.#shares.turns.end(turn);
    if (this.#hasLeft) this.#uncount();
  }

  /**
   * Gives up the slot while the work waits for a provider. Throws, with nothing changed, if too many requests wait for
   * providers. Call what it returns when the wait is over; the work then continues without waiting for a turn.
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
    if (this.#providerWaits === 1) {
      this.#uncount();
      if (this.#turn) this.#shares.turns.end(this.#turn);
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#shares.of('providerRequests').give(holder);
      this.#providerWaits -= 1;
      if (this.#providerWaits === 0) this.#resume();
    };
  }

  /** The result has been sent, or its receiver is gone. Work that has begun is counted until it ends. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const turn = this.#turn;
    if (turn?.decide) this.#shares.turns.end(turn);
    else if (!turn) this.#uncount();
  }

  #resume(): void {
    const turn = this.#turn;
    if (turn) this.#shares.turns.resume(turn);
    if (!this.#holder || (this.#hasLeft && !turn)) return;
    this.#shares.of('requests').add(this.#holder);
    this.#counted(this.#holder);
  }

  #counted(holder: SlotHolder): void {
    this.#holder = holder;
    this.#isCounted = true;
    this.#meters.placesTaken(1);
  }

  #uncount(): void {
    if (!this.#isCounted || !this.#holder) return;
    this.#isCounted = false;
    this.#shares.of('requests').give(this.#holder);
    this.#meters.placesTaken(-1);
  }
}

const GONE = 'The caller has gone before the work began.';
