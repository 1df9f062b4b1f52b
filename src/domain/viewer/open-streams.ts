/**
 * Streams of admitted callers. The callers are checked periodically: a deleted or inactive key, an expired token, or
 * fewer rights end their streams.
 */
import { DomainError, unauthenticated } from '../../errors.ts';
import type { Holder } from '../../work/bounded-shares.ts';
import { Outage } from '../../work/outage.ts';
import { Signal } from '../../work/signal.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import type { EndUserViewer } from './end-user.ts';
import { findValidEndUsers } from './end-users.ts';
import { hashKey } from './key/key-value.ts';
import { toHolder } from './share/process-shares.ts';
import { authenticate, type Credentials, toCredentialKey, type Viewer } from './viewer.ts';

/** The interval of the checks. There are two within the second in which a revocation must take effect. */
const POLL_MS = 400;
/** A caller gets no items if its last successful check is older than this. */
const STALE_MS = 1_000;
/** Parallel lookups of callers that are checked one by one. */
const PARALLEL_LOOKUPS = 8;
/** Keys that one statement confirms. */
const STATEMENT_KEYS = 1_000;

/** Called once when a stream ends: with the error that ends it, or with null if the server stops. */
type OnEnd = (error: DomainError | null) => void;

export interface OpenStream extends Disposable {
  /** Returns the caller as of the last check. Waits while the database is unavailable. Null if the stream has ended. */
  confirm(): Promise<Viewer | null>;
}

interface Stream {
  initialViewer: Viewer;
  /** The caller and the project whose share of subscriptions the stream takes. */
  holder: Holder;
  onEnd: OnEnd;
}

/** A credential with open streams, and its caller. */
interface Caller {
  credential: string;
  credentials: Credentials;
  keyHash: string | null;
  viewer: Viewer;
  confirmedAt: number;
  streams: Set<Stream>;
  checkSignal: Signal;
}

interface Options {
  pollMs?: number;
  staleMs?: number;
}

const STOPPING_ERROR = new DomainError(
  'SERVICE_UNAVAILABLE',
  'The server is stopping. Subscribe again.',
  {
    retryAfterSeconds: 1,
  },
);

export class OpenStreams {
  readonly #services: Services;
  readonly #verifier: BearerVerifier;
  readonly #options: Required<Options>;
  readonly #callers = new Map<string, Caller>();
  readonly #outage: Outage;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  #isStopping = false;

  constructor(services: Services, verifier: BearerVerifier, options: Options = {}) {
    this.#services = services;
    this.#verifier = verifier;
    this.#outage = new Outage(services.log, 'callers.unconfirmed');
    this.#options = { pollMs: POLL_MS, staleMs: STALE_MS, ...options };
  }

  /**
   * Opens a stream. Throws RATE_LIMITED if the caller's share is used up, and SERVICE_UNAVAILABLE if the process is
   * full or stops.
   */
  open(credentials: Credentials, viewer: Viewer, onEnd: OnEnd): OpenStream {
    if (this.#isStopping) throw STOPPING_ERROR;
    const caller = this.#findOrCreateCaller(credentials, viewer);
    const { pollMs, staleMs } = this.#options;
    const holder = toHolder(viewer);
    this.#services.shares.take('subscriptions', holder);
    const stream = { initialViewer: viewer, onEnd, holder };
    caller.streams.add(stream);
    this.#callers.set(caller.credential, caller);
    this.#timer ??= setInterval(() => void this.#poll(), pollMs).unref();
    return {
      confirm: () => confirm(caller, stream, staleMs),
      [Symbol.dispose]: () => this.#close(caller, stream),
    };
  }

  /** Ends all streams without an error, so that their clients reconnect to another server. */
  endAll(): void {
    this.#isStopping = true;
    for (const caller of this.#callers.values()) {
      for (const stream of caller.streams) this.#end(caller, stream, null);
    }
  }

  get size(): number {
    return this.#callers.values().reduce((size, { streams }) => size + streams.size, 0);
  }

  /** True after `endAll` was called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  #findOrCreateCaller(credentials: Credentials, viewer: Viewer): Caller {
    const credential = toCredentialKey(credentials) ?? '';
    const existing = this.#callers.get(credential);
    if (existing) return existing;
    const keyHash = credentials.apiKey ? hashKey(credentials.apiKey) : null;
    const confirmedAt = performance.now();
    const streams = new Set<Stream>();
    const checkedSignal = new Signal();
    return {
      credential,
      credentials,
      keyHash,
      viewer,
      confirmedAt,
      streams,
      checkSignal: checkedSignal,
    };
  }

  #end(caller: Caller, stream: Stream, error: DomainError | null): void {
    this.#close(caller, stream);
    stream.onEnd(error);
  }

  #close(caller: Caller, stream: Stream): void {
    // The streams of another caller with this credential may have replaced the entry in the map, and must stay there.
    if (!caller.streams.delete(stream)) return;
    this.#services.shares.get('subscriptions').release(stream.holder);
    caller.checkSignal.raise();
    if (caller.streams.size > 0) return;
    this.#callers.delete(caller.credential);
    if (this.#callers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    // If the check fails, the callers stay unconfirmed and their items wait.
    await this.#outage.watch(() => this.#confirmAll([...this.#callers.values()]));
    this.#isPolling = false;
  }

  async #confirmAll(callers: Caller[]): Promise<void> {
    const valid = await findUnchangedKeys(this.#services, callers);
    const endUsers = await findEndUsers(this.#services, callers);
    for (const caller of valid) this.#recordConfirmation(caller, caller.viewer);
    for (const [caller, viewer] of endUsers) this.#recordConfirmation(caller, viewer);
    const remaining = callers.filter((caller) => !valid.has(caller) && !endUsers.has(caller));
    while (remaining.length > 0) {
      const batch = remaining.splice(0, PARALLEL_LOOKUPS);
      await Promise.all(batch.map((caller) => this.#authenticateAgain(caller)));
    }
  }

  async #authenticateAgain(caller: Caller): Promise<void> {
    try {
      this.#services.viewers.delete(caller.credential);
      const viewer = await authenticate(this.#services, this.#verifier, caller.credentials);
      if (viewer) this.#recordConfirmation(caller, viewer);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      for (const stream of caller.streams) this.#end(caller, stream, error);
    }
  }

  #recordConfirmation(caller: Caller, viewer: Viewer): void {
    caller.viewer = viewer;
    caller.confirmedAt = performance.now();
    caller.checkSignal.raise();
    for (const stream of caller.streams) {
      if (hasAllRights(stream.initialViewer, viewer)) continue;
      this.#end(
        caller,
        stream,
        unauthenticated('The scopes or orgs of this caller have changed. Connect again.'),
      );
    }
  }
}

async function confirm(caller: Caller, stream: Stream, staleMs: number): Promise<Viewer | null> {
  while (caller.streams.has(stream)) {
    if (performance.now() - caller.confirmedAt <= staleMs) return caller.viewer;
    await caller.checkSignal.wait();
  }
  return null;
}

/** Finds the callers whose API keys are unchanged, with one statement for many keys. */
async function findUnchangedKeys({ database }: Services, callers: Caller[]): Promise<Set<Caller>> {
  const byHash = new Map(callers.map((caller) => [caller.keyHash, caller]));
  byHash.delete(null);
  const hashes = [...byHash.keys()] as string[];
  const valid = new Set<Caller>();
  while (hashes.length > 0) {
    const hash = hashes.splice(0, STATEMENT_KEYS);
    for (const key of await database.rows.find('ApiKey', { hash, active: true })) {
      const caller = byHash.get(key.hash);
      if (caller?.viewer.kind !== 'API_KEY') continue;
      const { id, scopes } = caller.viewer;
      if (key.id === id && key.scopes.join() === scopes.join()) valid.add(caller);
    }
  }
  return valid;
}

/** Finds the current viewers of end users whose tokens are still valid, with one statement for many tokens. */
async function findEndUsers(
  services: Services,
  callers: Caller[],
): Promise<Map<Caller, EndUserViewer>> {
  const now = services.now();
  const byViewer = new Map<Viewer, Caller>();
  for (const caller of callers) {
    const { viewer } = caller;
    if (viewer.kind === 'END_USER' && viewer.expireTime > now) byViewer.set(viewer, caller);
  }
  const viewers = [...byViewer.keys()] as EndUserViewer[];
  const valid = new Map<Caller, EndUserViewer>();
  while (viewers.length > 0) {
    const batch = viewers.splice(0, STATEMENT_KEYS);
    for (const [index, viewer] of await findValidEndUsers(services, batch)) {
      valid.set(byViewer.get(batch[index] as Viewer) as Caller, viewer);
    }
  }
  return valid;
}

/**
 * True if the viewer still has all rights that streams depend on. A role in an org gives no right to read. An end user's
 * rights are in the token, so they never change.
 */
function hasAllRights(before: Viewer, after: Viewer): boolean {
  if (before.kind === 'END_USER' || after.kind === 'END_USER') {
    return before.kind === after.kind && before.id === after.id;
  }
  const orgIds = after.kind === 'BUILDER' ? [...after.roles.keys()] : [after.orgId];
  const previousOrgIds = before.kind === 'BUILDER' ? [...before.roles.keys()] : [before.orgId];
  return (
    before.scopes.every((scope) => after.scopes.includes(scope)) &&
    previousOrgIds.every((orgId) => orgIds.includes(orgId))
  );
}
