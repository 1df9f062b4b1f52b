/**
 * A span as the SDK's processor and exporter take it. The SDK's own one costs three times as much: it looks for its
 * parent in a context, asks the sampler again for each part of a trace, and checks what only this code has written.
 */
import {
  type Attributes,
  type HrTime,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { IdGenerator, ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { NO_SPAN, type Span, type SpanOptions } from '../spans.ts';
import { traceparentOf } from './trace-context.ts';

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

const SCOPE = { name: 'integration-gateway' };
const NONE: never[] = [];
const UNSET: SpanStatus = Object.freeze({ code: SpanStatusCode.UNSET });
const FAILED: SpanStatus = Object.freeze({ code: SpanStatusCode.ERROR });

/** Of all spans of a process. */
export interface Recording {
  processor: SpanProcessor;
  ids: IdGenerator;
  resource: Resource;
}

/** Of all spans of a trace in this process. */
interface Trace extends Recording {
  /** The machine's clock minus performance.now() at its beginning: a clock that is set in between tears no trace apart. */
  clockOffsetMs: number;
}

/** What it is called, and where its place is. */
interface Place {
  name: string;
  context: SpanContext;
  parent?: SpanContext | undefined;
}

export class RecordedSpan implements Span, ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext: SpanContext | undefined;
  readonly attributes: Attributes;
  status: SpanStatus = UNSET;
  readonly #trace: Trace;
  readonly #context: SpanContext;
  readonly #startMs = performance.now();
  #endMs: number | null = null;

  private constructor(trace: Trace, { name, context, parent }: Place, options: SpanOptions) {
    const { kind = 'internal', attributes } = options;
    this.#trace = trace;
    this.name = name;
    this.kind = KINDS[kind];
    this.#context = context;
    this.parentSpanContext = parent;
    this.attributes = attributes ?? {};
  }

  /** The first of this process in its trace. */
  static first(recording: Recording, place: Place, options: SpanOptions): RecordedSpan {
    const clockOffsetMs = Date.now() - performance.now();
    return new RecordedSpan({ ...recording, clockOffsetMs }, place, options);
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  get traceparent(): string {
    return traceparentOf(this.#context);
  }

  get isRecorded(): boolean {
    return !this.isOver;
  }

  get isOver(): boolean {
    return this.#endMs !== null;
  }

  begin(name: string, options: SpanOptions): Span {
    if (this.isOver) return NO_SPAN;
    const { traceId, traceFlags } = this.#context;
    const context = { traceId, spanId: this.#trace.ids.generateSpanId(), traceFlags };
    return new RecordedSpan(this.#trace, { name, context, parent: this.#context }, options);
  }

  set(attributes: SpanOptions['attributes'] & object): void {
    for (const name in attributes) {
      const value = attributes[name];
      if (value !== undefined) this.attributes[name] = value;
    }
  }

  fail(failure: string): void {
    this.attributes['error.type'] = failure;
    this.status = FAILED;
  }

  end(failure?: string): void {
    if (this.isOver) return;
    if (failure !== undefined) this.fail(failure);
    this.#endMs = performance.now();
    this.#trace.processor.onEnd(this);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  get resource(): Resource {
    return this.#trace.resource;
  }

  get startTime(): HrTime {
    return hrTimeOf(this.#trace.clockOffsetMs + this.#startMs);
  }

  get endTime(): HrTime {
    return hrTimeOf(this.#trace.clockOffsetMs + (this.#endMs ?? this.#startMs));
  }

  get duration(): HrTime {
    return hrTimeOf((this.#endMs ?? this.#startMs) - this.#startMs);
  }

  get ended(): boolean {
    return this.isOver;
  }

  get instrumentationScope(): typeof SCOPE {
    return SCOPE;
  }

  get links(): never[] {
    return NONE;
  }

  get events(): never[] {
    return NONE;
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }
}

/** Seconds, and nanoseconds beside them. */
function hrTimeOf(ms: number): HrTime {
  return [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
}
