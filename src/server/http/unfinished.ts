/**
 * Bounds incomplete requests: unfinished bodies, and sockets without connection_init. Both use no request slot.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toNetwork } from '../../domain/access/viewer/network.ts';
import { createProblem } from '../../kernel/errors.ts';
import { sendProblem } from '../../rest/endpoint/rest-errors.ts';
import type { Config } from '../../settings/config.ts';
import { atLoopTurnEnd } from '../../work/loop-turn-end.ts';

interface UnfinishedInput {
  network: string;
  /** The maximum memory that it can use. */
  bytes: number;
  /** True if the input is complete or the client has disconnected. */
  hasEnded(): boolean;
  isSlow(elapsedMs: number): boolean;
  cut(reason: CutReason): void;
}

type CutReason = 'slow' | 'crowded';
type UnfinishedLimits = { networkMax: number; networkBytesMax: number; allMax?: number };

/** Limits for all networks together. They leave memory and file descriptors for well-behaved clients. */
const ALL_MAX = Math.min(8_000, Math.floor(readOpenFilesMax() / 4));
const ALL_BYTES_MAX = 256 * 1024 * 1024;
const SWEEP_MS = 100;
/** The maximum number of cuts in one sweep. Cutting takes time, so more would delay well-behaved clients. */
const CUTS_MAX = 100;
/** Younger input is not cut for crowding, because the server needs time to read a burst from well-behaved clients. */
const YOUNG_MS = 1_000;

/** Cuts slow input, and the oldest input of networks that exceed a limit. */
export class UnfinishedBudget {
  readonly #limits: UnfinishedLimits;
  /** Entries from the oldest to the newest. */
  readonly #entries = new Map<object, UnfinishedInput & { sinceMs: number }>();
  /** A clock that excludes stalls of the event loop, during which the server could not read. */
  #clockMs = 0;
  #isSweeping = false;

  constructor(budgetLimits: UnfinishedLimits) {
    this.#limits = budgetLimits;
  }

  enter(key: object, entry: UnfinishedInput): void {
    const [oldest] = this.#entries.keys();
    const isFull = this.#entries.size >= (this.#limits.allMax ?? ALL_MAX);
    if (isFull && oldest) this.leave(oldest)?.cut('crowded');
    this.#entries.set(key, { ...entry, sinceMs: this.#clockMs });
    if (!this.#isSweeping) this.#scheduleSweep(performance.now());
  }

  leave(key: object): UnfinishedInput | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    return entry;
  }

  #scheduleSweep(scheduledAtMs: number): void {
    this.#isSweeping = this.#entries.size > 0;
    if (!this.#isSweeping) return;
    setTimeout(() => {
      this.#clockMs += Math.min(performance.now() - scheduledAtMs, 2 * SWEEP_MS);
      for (const [key, { hasEnded }] of this.#entries) if (hasEnded()) this.#entries.delete(key);
      const cuts = this.#listCuts().slice(-CUTS_MAX).reverse();
      for (const [key, reason] of cuts) this.leave(key)?.cut(reason);
      this.#scheduleSweep(performance.now());
    }, SWEEP_MS).unref();
  }

  /** Finds the entries to cut. Sums from the newest to the oldest, so that the oldest entries exceed the limits. */
  #listCuts(): [object, CutReason][] {
    const { networkMax, networkBytesMax } = this.#limits;
    const sums = new Map<string, { count: number; bytes: number }>();
    let allBytes = 0;
    return [...this.#entries].reverse().flatMap(([key, entry]): [object, CutReason][] => {
      const ageMs = this.#clockMs - entry.sinceMs;
      const networkSum = sums.get(entry.network) ?? { count: 0, bytes: 0 };
      sums.set(entry.network, networkSum);
      networkSum.count += 1;
      networkSum.bytes += entry.bytes;
      allBytes += entry.bytes;
      const isCrowded = networkSum.count > networkMax || networkSum.bytes > networkBytesMax;
      if (entry.isSlow(ageMs)) return [[key, 'slow']];
      const mustLeave = allBytes > ALL_BYTES_MAX || (isCrowded && ageMs > YOUNG_MS);
      return mustLeave ? [[key, 'crowded']] : [];
    });
  }
}

const SLOW_DETAIL =
  'Send the body within LIMIT_BODY_MS, or at LIMIT_BODY_BYTES_PER_SECOND or faster.';
const CROWDED_DETAIL =
  'Too many requests of this address are unfinished. Complete them before you send more.';
const PROBLEMS = {
  slow: () => createProblem('BAD_USER_INPUT', SLOW_DETAIL, { status: 408 }),
  crowded: () =>
    createProblem('RATE_LIMITED', CROWDED_DETAIL, { status: 503, retryAfterSeconds: 1 }),
};

/** Returns a function that cuts the body of a request if it is slow or crowded. Node's own timeouts cut slow heads. */
export function createBodyWatch(config: Config) {
  const { LIMIT_BODY_BYTES: bytesMax, LIMIT_UNFINISHED, LIMIT_UNFINISHED_BYTES } = config;
  const budgetLimits = { networkMax: LIMIT_UNFINISHED, networkBytesMax: LIMIT_UNFINISHED_BYTES };
  const budget = new UnfinishedBudget(budgetLimits);
  const watch = ({ raw: req, headers, metadata }: FastifyRequest, reply: FastifyReply) => {
    const { socket } = req;
    if (req.complete || socket.destroyed) return;
    const bytesReadBefore = socket.bytesRead;
    // Time during which the gateway has not read, for example because a provider accepts a proxied body slowly.
    let blockedMs = 0;
    let checkedAtMs = 0;
    budget.enter(req, {
      network: toNetwork(metadata.address),
      bytes: Math.min(Number(headers['content-length'] ?? bytesMax), bytesMax),
      hasEnded: () => req.complete || socket.destroyed,
      isSlow(elapsedMs) {
        if (req.readableLength > 0) blockedMs += elapsedMs - checkedAtMs;
        checkedAtMs = elapsedMs;
        const dueSeconds = (elapsedMs - blockedMs - config.LIMIT_BODY_MS) / 1_000;
        return socket.bytesRead - bytesReadBefore < dueSeconds * config.LIMIT_BODY_BYTES_PER_SECOND;
      },
      cut(reason) {
        if (reply.raw.headersSent) req.destroy();
        else sendProblem(reply.header('connection', 'close'), PROBLEMS[reason]());
      },
    });
  };
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    // Most bodies are complete at the end of this turn of the event loop.
    if (encoding || length !== '0') atLoopTurnEnd(() => watch(request, reply));
  };
}

/**
 * Returns the number of files that this process may open (`ulimit -n`), of which each connection uses one. Node raises
 * the limit as far as permitted. Infinity without a limit.
 */
export function readOpenFilesMax(): number {
  // The type lacks this setting. Without it, Node resolves the names of all network addresses.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as Report;
  return Number(userLimits?.open_files?.soft) || Number.POSITIVE_INFINITY;
}

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}
