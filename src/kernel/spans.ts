/**
 * Traces work with the OpenTelemetry API. The active span follows work through its promises, so code calls `inSpan`
 * without passing a span. Without a receiver of traces, the API has no context manager and each function here costs one
 * lookup. src/tracing/ sets up the SDK, and is loaded only if a receiver is configured.
 */
import {
  type Context,
  context,
  createContextKey,
  INVALID_SPAN_CONTEXT,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { toOutcome } from './meters.ts';

/** A span that records nothing and belongs to no trace. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** The key of the active trace's tracer. A process may have several tracers. */
const TRACER = createContextKey('integration-gateway.tracer');

/**
 * Attributes must hold names, kinds, counts and ids of the gateway only: no record data, no secrets and no strings that
 * clients send.
 */
interface TraceOptions extends SpanOptions {
  name: string;
  /** The W3C `traceparent` of the caller. */
  parent?: string | null | undefined;
}

/**
 * Starts the first span of this process in a trace and returns its context. Without a tracer, or if a trace that begins
 * here is not sampled, returns the root context, in which nothing is traced.
 */
export function beginTrace(
  tracer: Tracer | null,
  { name, parent, ...options }: TraceOptions,
): Context {
  if (!tracer) return ROOT_CONTEXT;
  const parentContext = parent
    ? propagation.extract(ROOT_CONTEXT, { traceparent: parent })
    : ROOT_CONTEXT;
  const span = tracer.startSpan(name, options, parentContext);
  if (parentContext === ROOT_CONTEXT && !isSampled(span)) return ROOT_CONTEXT;
  return trace.setSpan(ROOT_CONTEXT.setValue(TRACER, tracer), span);
}

/** Starts a trace in this process, runs the work in it, and ends its span after the work. */
export function inTrace<T>(
  { tracer }: { tracer: Tracer | null },
  options: TraceOptions,
  work: (span: Span) => T,
): T {
  if (!tracer) return work(NO_SPAN);
  const traceContext = beginTrace(tracer, options);
  return runInContext(traceContext, () => runInSpan(trace.getSpan(traceContext) ?? NO_SPAN, work));
}

/** Runs work as a child span of the active span. Outside of sampled traces it only runs the work. */
export function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => T): T {
  const tracer = findActiveTracer();
  if (!tracer) return work(NO_SPAN);
  return tracer.startActiveSpan(name, options, (span) => runInSpan(span, work));
}

/** Starts a child span of the active span, which the caller ends. It records nothing outside of sampled traces. */
export function startSpan(name: string, options: SpanOptions): Span {
  return findActiveTracer()?.startSpan(name, options) ?? NO_SPAN;
}

/** Marks the span as failed. `failure` must be one of a small set of words. */
export function failSpan(span: Span, failure: string): void {
  span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
}

/**
 * Runs work in a context. If that context is already active, as for all requests without a trace, it only runs the
 * work.
 */
export function runInContext<T>(traceContext: Context, work: () => T): T {
  return traceContext === context.active() ? work() : context.with(traceContext, work);
}

/** Runs work outside of all traces. Use it for shared work that one request happens to start. */
export function runOutsideTraces<T>(work: () => T): T {
  return runInContext(ROOT_CONTEXT, work);
}

/** Returns the active span. Null outside of traces, and after the span has ended. */
export function findCurrentSpan(): Span | null {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : null;
}

/** Returns the context of the active span if its trace is sampled. Null otherwise. */
export function findSampledContext(): Context | null {
  return findActiveTracer() ? context.active() : null;
}

/** Returns the W3C `traceparent` of the active span, to send to services or to store with work. Null outside of traces. */
export function findCurrentTraceparent(): string | null {
  if (!findCurrentSpan()) return null;
  const headers: { traceparent?: string } = {};
  propagation.inject(context.active(), headers);
  return headers.traceparent ?? null;
}

/** Returns a function that runs `work` in the context of this call, from wherever it is called. */
export function bindSpan<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  const active = context.active();
  return active === ROOT_CONTEXT ? work : context.bind(active, work);
}

/** Returns the tracer for children of the active span. Undefined outside of traces, and in unsampled ones. */
function findActiveTracer(): Tracer | undefined {
  const span = findCurrentSpan();
  if (!span || !isSampled(span)) return undefined;
  return context.active().getValue(TRACER) as Tracer | undefined;
}

function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

function runInSpan<T>(span: Span, work: (span: Span) => T): T {
  const fail = (error: unknown) => {
    failSpan(span, toOutcome(error));
    span.end();
  };
  let result: T;
  try {
    result = work(span);
  } catch (error) {
    fail(error);
    throw error;
  }
  if (result instanceof Promise) result.then(() => span.end(), fail);
  else span.end();
  return result;
}
