/**
 * The open result streams of admitted callers: the subscriptions that they follow, over any protocol. Each caller is
 * checked periodically. Its streams end if its key was deleted or deactivated, if its token has expired, or if it has
 * lost rights.
 */
import { DomainError, unauthenticated } from '../../../kernel/errors.ts';
import type { Holder } from '../../../work/bounded-shares.ts';
import { Outage } from '../../../work/outage.ts';
import { Signal } from '../../../work/signal.ts';
import type { RowServices, Services } from '../call.ts';
import { listOrgIds } from '../scope.ts';
import type { BearerVerifier } from './bearer.ts';
import type { EndUserViewer } from './end-user.ts';
import { listValidEndUsers } from './end-users.ts';
import { authenticate, type Credentials, toCredentialKey } from './find-viewer.ts';
import { hashKey } from './key/api-key-value.ts';
import { toHolder } from './share/process-shares.ts';
import type { Viewer } from './viewer.ts';

/** The interval of the checks. Two checks fit in the second within which a revocation must take effect. */
const CHECK_INTERVAL_MS = 400;
/** A stream waits if the last successful check of its caller is older than this. */
const STALE_MS = 1_000;
/** The number of parallel checks of callers that no statement can check together. */
const PARALLEL_CHECKS = 8;
/** The maximum number of callers that one statement checks. */
const STATEMENT_CALLERS_MAX = 1_000;

/** Receives the error that ends the stream, or null if the server stops. It is called once. */
type OnEnd = (error: DomainError | null) => void;

interface OpenResultStream extends Disposable {
  /** Returns the caller as last checked. Waits while the database is unavailable. Null if the stream has ended. */
  waitForCheck(): Promise<Viewer | null>;
}

interface ResultStreamState {
  initialViewer: Viewer;
  /** The holder in whose share of subscriptions the stream counts. */
  holder: Holder;
  onEnd: OnEnd;
}

/** A caller with open streams, identified by its credential. */
interface Caller {
  credentialKey: string;
  credentials: Credentials;
  keyHash: string | null;
  viewer: Viewer;
  checkedAtMs: number;
  streams: Set<ResultStreamState>;
  checkSignal: Signal;
}

interface Options {
  checkIntervalMs?: number;
  staleMs?: number;
}

const STOPPING_ERROR = new DomainError(
  'SERVICE_UNAVAILABLE',
  'The server is stopping. Subscribe again.',
  { retryAfterSeconds: 1 },
);

export class OpenResultStreams {
  readonly #services: Services;
  readonly #verifier: BearerVerifier;
  readonly #options: Required<Options>;
  readonly #callers = new Map<string, Caller>();
  readonly #outage: Outage;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isStopping = false;

  constructor(services: Services, verifier: BearerVerifier, options: Options = {}) {
    this.#services = services;
    this.#verifier = verifier;
    this.#outage = new Outage(services.log, 'callers.not_checked');
    this.#options = { checkIntervalMs: CHECK_INTERVAL_MS, staleMs: STALE_MS, ...options };
  }

  /**
   * Opens a stream. Throws RATE_LIMITED if the caller's share is exhausted, and SERVICE_UNAVAILABLE if the process is
   * full or stops.
   */
  open(credentials: Credentials, viewer: Viewer, onEnd: OnEnd): OpenResultStream {
    if (this.#isStopping) throw STOPPING_ERROR;
    const caller = this.#findOrCreateCaller(credentials, viewer);
    const { checkIntervalMs, staleMs } = this.#options;
    const holder = toHolder(viewer);
    this.#services.shares.take('subscriptions', holder);
    const stream = { initialViewer: viewer, onEnd, holder };
    caller.streams.add(stream);
    this.#callers.set(caller.credentialKey, caller);
    this.#timer ??= setInterval(() => void this.#checkCallers(), checkIntervalMs).unref();
    return {
      waitForCheck: () => waitForCheck(caller, stream, staleMs),
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
    const credentialKey = toCredentialKey(credentials);
    if (credentialKey === null) throw new Error('Bug: a stream was opened without credentials.');
    const existingCaller = this.#callers.get(credentialKey);
    if (existingCaller) return existingCaller;
    return {
      credentialKey,
      credentials,
      keyHash: credentials.apiKey ? hashKey(credentials.apiKey) : null,
      viewer,
      checkedAtMs: performance.now(),
      streams: new Set(),
      checkSignal: new Signal(),
    };
  }

  #end(caller: Caller, stream: ResultStreamState, error: DomainError | null): void {
    this.#close(caller, stream);
    stream.onEnd(error);
  }

  #close(caller: Caller, stream: ResultStreamState): void {
    // If the stream has already ended, the map may contain a new caller with this key, which must not be deleted.
    if (!caller.streams.delete(stream)) return;
    this.#services.shares.get('subscriptions').release(stream.holder);
    caller.checkSignal.raise();
    if (caller.streams.size > 0) return;
    this.#callers.delete(caller.credentialKey);
    if (this.#callers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #checkCallers(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    // If the check fails, the last successful one becomes stale and the streams wait.
    await this.#outage.watch(() => this.#checkAll([...this.#callers.values()]));
    this.#isChecking = false;
  }

  async #checkAll(callers: Caller[]): Promise<void> {
    const keyCallers = await listUnchangedKeys(this.#services, callers);
    const endUsers = await listEndUsers(this.#services, callers);
    for (const caller of keyCallers) this.#recordCheck(caller, caller.viewer);
    for (const [caller, viewer] of endUsers) this.#recordCheck(caller, viewer);
    const otherCallers = callers.filter(
      (caller) => !keyCallers.has(caller) && !endUsers.has(caller),
    );
    while (otherCallers.length > 0) {
      const batch = otherCallers.splice(0, PARALLEL_CHECKS);
      await Promise.all(batch.map((caller) => this.#checkCredentials(caller)));
    }
  }

  async #checkCredentials(caller: Caller): Promise<void> {
    try {
      this.#services.viewers.delete(caller.credentialKey);
      const viewer = await authenticate(this.#services, this.#verifier, caller.credentials);
      if (viewer) this.#recordCheck(caller, viewer);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      for (const stream of caller.streams) this.#end(caller, stream, error);
    }
  }

  #recordCheck(caller: Caller, viewer: Viewer): void {
    caller.viewer = viewer;
    caller.checkedAtMs = performance.now();
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

/** Returns the viewer as soon as the last check of its caller is recent. Null if the stream has ended. */
async function waitForCheck(
  caller: Caller,
  stream: ResultStreamState,
  staleMs: number,
): Promise<Viewer | null> {
  while (caller.streams.has(stream)) {
    if (performance.now() - caller.checkedAtMs <= staleMs) return caller.viewer;
    await caller.checkSignal.wait();
  }
  return null;
}

/** Finds the callers whose API keys are unchanged, with one statement for many keys. */
async function listUnchangedKeys(
  { database }: RowServices,
  callers: Caller[],
): Promise<Set<Caller>> {
  const callersByHash = new Map(
    callers.flatMap((caller) => (caller.keyHash === null ? [] : [[caller.keyHash, caller]])),
  );
  const hashes = [...callersByHash.keys()];
  const unchangedCallers = new Set<Caller>();
  while (hashes.length > 0) {
    const batch = hashes.splice(0, STATEMENT_CALLERS_MAX);
    for (const key of await database.reads.find('ApiKey', { hash: batch, active: true })) {
      const caller = callersByHash.get(key.hash);
      if (caller?.viewer.kind !== 'API_KEY') continue;
      const { id, scopes } = caller.viewer;
      if (key.id === id && key.scopes.join() === scopes.join()) unchangedCallers.add(caller);
    }
  }
  return unchangedCallers;
}

/** Finds the current viewers of end users whose tokens are still valid, with one statement for many tokens. */
async function listEndUsers(
  services: RowServices,
  callers: Caller[],
): Promise<Map<Caller, EndUserViewer>> {
  const now = services.now();
  const callersByViewer = new Map<EndUserViewer, Caller>();
  for (const caller of callers) {
    const { viewer } = caller;
    if (viewer.kind === 'END_USER' && viewer.expireTime > now) callersByViewer.set(viewer, caller);
  }
  const viewers = [...callersByViewer.keys()];
  const endUsers = new Map<Caller, EndUserViewer>();
  while (viewers.length > 0) {
    const batch = viewers.splice(0, STATEMENT_CALLERS_MAX);
    for (const [index, viewer] of await listValidEndUsers(services, batch)) {
      endUsers.set(callersByViewer.get(batch[index] as EndUserViewer) as Caller, viewer);
    }
  }
  return endUsers;
}

/**
 * True if the viewer still has all rights on which streams depend. Roles in orgs do not matter, because streams only read.
 * The rights of an end user are in the token and never change.
 */
function hasAllRights(before: Viewer, after: Viewer): boolean {
  if (before.kind === 'END_USER' || after.kind === 'END_USER') {
    return before.kind === after.kind && before.id === after.id;
  }
  const orgIds = listOrgIds(after);
  return (
    before.scopes.every((scope) => after.scopes.includes(scope)) &&
    listOrgIds(before).every((orgId) => orgIds.includes(orgId))
  );
}
