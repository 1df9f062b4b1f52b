/**
 * Spans: the timed parts of a trace. The span of what runs now follows it through its promises, so that a seam tells
 * what it does by `inSpan`, and needs nothing passed. Without a trace each of these is one look at an empty place;
 * src/tracing/ turns spans into OpenTelemetry's, and is loaded only if a receiver of traces is configured.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { outcomeOf } from './meters.ts';

/** No record data, no secrets, no texts of clients: names, kinds, counts and ids of the gateway. */
export type Attributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  /** Default: `internal`. */
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** The span's own from then on. */
  attributes?: Attributes;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** W3C Trace Context, for those whom this calls. */
  readonly traceparent: string;
  /** False if the trace is not sampled, or the span has ended: parts of it are not told then. */
  readonly isRecorded: boolean;
  readonly isOver: boolean;
  begin(name: string, options: SpanOptions): Span;
  set(attributes: Attributes): void;
  /** `failure` is one of few words. */
  fail(failure: string): void;
  end(failure?: string): void;
}

export interface Tracer {
  /** False: nothing is traced. */
  readonly isOn: boolean;
  /** The first span of this process in a trace: of the caller's, if it says so by a `traceparent`. */
  begin(name: string, options: SpanOptions & { parent?: string | null | undefined }): Span;
}

const nothing = () => {};

/** Takes what a span takes, and tells nobody. */
export const NO_SPAN: Span = Object.freeze({
  traceId: '',
  spanId: '',
  traceparent: '',
  isRecorded: false,
  isOver: true,
  begin: () => NO_SPAN,
  set: nothing,
  fail: nothing,
  end: nothing,
});

export const NO_TRACER: Tracer = Object.freeze({ isOn: false, begin: () => NO_SPAN });

const active = new AsyncLocalStorage<Span>();

/** A part of the trace of what runs now; without one, the work alone. */
export function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => T): T {
  const parent = active.getStore();
  return parent?.isRecorded ? spanning(parent.begin(name, options), work) : work(NO_SPAN);
}

/** Work that begins a trace in this process, whatever it was begun by. */
export function inTrace<T>(
  { tracer }: { tracer: Tracer },
  { name, ...options }: { name: string } & Parameters<Tracer['begin']>[1],
  work: (span: Span) => T,
): T {
  return tracer.isOn ? spanning(tracer.begin(name, options), work) : work(NO_SPAN);
}

function spanning<T>(span: Span, work: (span: Span) => T): T {
  if (span === NO_SPAN) return outsideTraces(() => work(NO_SPAN));
  let result: T;
  try {
    result = active.run(span, () => work(span));
  } catch (error) {
    span.end(outcomeOf(error));
    throw error;
  }
  if (!(result instanceof Promise)) span.end();
  else
    result.then(
      () => span.end(),
      (error: unknown) => span.end(outcomeOf(error)),
    );
  return result;
}

/** Runs the work as a part of the span, which goes on after it. */
export function within<T>(span: Span, work: () => T): T {
  return span === NO_SPAN ? work() : active.run(span, work);
}

/** Runs what is nobody's part, though a part of a trace may begin it: what is called from it is of no trace. */
export function outsideTraces<T>(work: () => T): T {
  return active.getStore() ? active.run(NO_SPAN, work) : work();
}

/** The span of what runs now; null if there is none, or it is over. */
export function currentSpan(): Span | null {
  const span = active.getStore();
  return span && !span.isOver ? span : null;
}

/** For those whom what runs now calls, and for rows that others go on with; null without a trace. */
export function currentTraceparent(): string | null {
  return currentSpan()?.traceparent ?? null;
}

/** What is called later, by somebody else, still belongs to what runs now. */
export function keepingSpan<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  const span = active.getStore();
  return span ? (...args) => active.run(span, () => work(...args)) : work;
}

/** The same for parts of a trace alone, which what is not recorded has none of. */
export function keepingRecordedSpan<A extends unknown[], R>(
  work: (...args: A) => R,
): (...args: A) => R {
  return active.getStore()?.isRecorded ? keepingSpan(work) : work;
}
