/**
 * Streams that stay open after their caller was admitted. Their callers are checked again and again: a deleted or
 * inactive key, an expired token, or fewer rights end them.
 */
import { DomainError, unauthenticated } from '../../errors.ts';
import type { Holder } from '../../work/bounded-shares.ts';
import { Outage } from '../../work/outage.ts';
import { Signal } from '../../work/signal.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import type { EndUserViewer } from './end-user.ts';
import { findStanding as findStandingEndUsers } from './end-users.ts';
import { hashOfKey } from './key/key-value.ts';
import { holderOf } from './share/process-shares.ts';
import { authenticate, type Credentials, credentialOf, type Viewer } from './viewer.ts';

/** At least twice in the second within which a refusal must take effect. */
const POLL_MS = 400;
/** A caller who could not be checked for this long gets nothing until the next check. */
const STALE_MS = 1_000;
/** Lookups at the same time for callers that are checked one by one. */
const LOOKUPS_AT_ONCE = 8;
/** Keys that one statement confirms. */
const KEYS_AT_ONCE = 1_000;

/** Told once that a stream is over: with a refusal, or with null if the server stops. */
export type OnClose = (refusal: DomainError | null) => void;

export interface OpenStream extends Disposable {
  /** The caller as of the last check; waits while the database does not answer. Null if the stream is over. */
  confirm(): Promise<Viewer | null>;
}

interface Stream {
  openedAs: Viewer;
  /** The caller and the project whose share of subscriptions the stream takes. */
  holder: Holder;
  onEnd: OnClose;
}

/** Who opened streams with one credential. */
interface Caller {
  credential: string;
  credentials: Credentials;
  keyHash: string | null;
  viewer: Viewer;
  confirmedAt: number;
  streams: Set<Stream>;
  looked: Signal;
}

interface Options {
  lookMs?: number;
  staleMs?: number;
}

const STOPPING = new DomainError(
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
  #isLooking = false;
  #areEnding = false;

  constructor(services: Services, verifier: BearerVerifier, options: Options = {}) {
    this.#services = services;
    this.#verifier = verifier;
    this.#outage = new Outage(services.log, 'callers.unconfirmed');
    this.#options = { lookMs: POLL_MS, staleMs: STALE_MS, ...options };
  }

  /** Throws RATE_LIMITED if the caller's share is used up, and SERVICE_UNAVAILABLE if the process is full or stops. */
  open(credentials: Credentials, viewer: Viewer, onEnd: OnClose): OpenStream {
    if (this.#areEnding) throw STOPPING;
    const caller = this.#callerOf(credentials, viewer);
    const { lookMs, staleMs } = this.#options;
    const holder = holderOf(viewer);
    this.#services.shares.take('subscriptions', holder);
    const stream = { openedAs: viewer, onEnd, holder };
    caller.streams.add(stream);
    this.#callers.set(caller.credential, caller);
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
    return {
      confirm: () => confirm(caller, stream, staleMs),
      [Symbol.dispose]: () => this.#close(caller, stream),
    };
  }

  /** Ends all without a refusal: their clients reconnect to another server. */
  endAll(): void {
    this.#areEnding = true;
    for (const caller of this.#callers.values()) {
      for (const stream of caller.streams) this.#end(caller, stream, null);
    }
  }

  get size(): number {
    return this.#callers.values().reduce((size, { streams }) => size + streams.size, 0);
  }

  /** Whether endAll was called. */
  get areEnding(): boolean {
    return this.#areEnding;
  }

  #callerOf(credentials: Credentials, viewer: Viewer): Caller {
    const credential = credentialOf(credentials) ?? '';
    const known = this.#callers.get(credential);
    if (known) return known;
    const keyHash = credentials.apiKey ? hashOfKey(credentials.apiKey) : null;
    const confirmedAt = performance.now();
    const streams = new Set<Stream>();
    const looked = new Signal();
    return { credential, credentials, keyHash, viewer, confirmedAt, streams, looked };
  }

  #end(caller: Caller, stream: Stream, refusal: DomainError | null): void {
    this.#close(caller, stream);
    stream.onEnd(refusal);
  }

  #close(caller: Caller, stream: Stream): void {
    // Compared again: another caller may have this credential by now, and stays.
    if (!caller.streams.delete(stream)) return;
    this.#services.shares.of('subscriptions').give(stream.holder);
    caller.looked.raise();
    if (caller.streams.size > 0) return;
    this.#callers.delete(caller.credential);
    if (this.#callers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    // If it fails, nothing is known of them now: their items wait.
    await this.#outage.watch(() => this.#confirmAll([...this.#callers.values()]));
    this.#isLooking = false;
  }

  async #confirmAll(callers: Caller[]): Promise<void> {
    const standing = await findStanding(this.#services, callers);
    const endUsers = await findEndUsers(this.#services, callers);
    for (const caller of standing) this.#confirmed(caller, caller.viewer);
    for (const [caller, viewer] of endUsers) this.#confirmed(caller, viewer);
    const others = callers.filter((caller) => !standing.has(caller) && !endUsers.has(caller));
    while (others.length > 0) {
      const some = others.splice(0, LOOKUPS_AT_ONCE);
      await Promise.all(some.map((caller) => this.#lookAt(caller)));
    }
  }

  async #lookAt(caller: Caller): Promise<void> {
    try {
      this.#services.viewers.delete(caller.credential);
      const viewer = await authenticate(this.#services, this.#verifier, caller.credentials);
      if (viewer) this.#confirmed(caller, viewer);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      for (const stream of caller.streams) this.#end(caller, stream, error);
    }
  }

  #confirmed(caller: Caller, viewer: Viewer): void {
    caller.viewer = viewer;
    caller.confirmedAt = performance.now();
    caller.looked.raise();
    for (const stream of caller.streams) {
      if (mayStill(stream.openedAs, viewer)) continue;
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
    await caller.looked.wait();
  }
  return null;
}

/** The callers whose keys are unchanged, by one statement for many. */
async function findStanding({ database }: Services, callers: Caller[]): Promise<Set<Caller>> {
  const byHash = new Map(callers.map((caller) => [caller.keyHash, caller]));
  byHash.delete(null);
  const hashes = [...byHash.keys()] as string[];
  const standing = new Set<Caller>();
  while (hashes.length > 0) {
    const hash = hashes.splice(0, KEYS_AT_ONCE);
    for (const key of await database.rows.find('ApiKey', { hash, active: true })) {
      const caller = byHash.get(key.hash);
      if (caller?.viewer.kind !== 'API_KEY') continue;
      const { id, scopes } = caller.viewer;
      if (key.id === id && key.scopes.join() === scopes.join()) standing.add(caller);
    }
  }
  return standing;
}

/** The end users whose tokens still hold, by one statement for many, as they are now. */
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
  const standing = new Map<Caller, EndUserViewer>();
  while (viewers.length > 0) {
    const some = viewers.splice(0, KEYS_AT_ONCE);
    for (const [at, viewer] of await findStandingEndUsers(services, some)) {
      standing.set(byViewer.get(some[at] as Viewer) as Caller, viewer);
    }
  }
  return standing;
}

/** Whether the viewer still has all the rights that it had. An end user's are in the token: they only end. */
function mayStill(then: Viewer, now: Viewer): boolean {
  if (then.kind === 'END_USER' || now.kind === 'END_USER') {
    return then.kind === now.kind && then.id === now.id;
  }
  const orgIds = now.kind === 'BUILDER' ? now.orgIds : [now.orgId];
  const had = then.kind === 'BUILDER' ? then.orgIds : [then.orgId];
  return (
    then.scopes.every((scope) => now.scopes.includes(scope)) &&
    had.every((orgId) => orgIds.includes(orgId))
  );
}
