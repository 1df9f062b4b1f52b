/** Spans as OpenTelemetry's, sent over OTLP. Loaded only if a receiver of traces is configured. */
import {
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { NO_SPAN, type Span, type SpanOptions, type Tracer } from '../spans.ts';
import { endWithin } from '../work/deadline.ts';
import { createExporter } from './exporter.ts';
import { pairsOf } from './pairs.ts';
import { samplerOf } from './sampler.ts';

/** Stopping waits no longer for a receiver that hangs. */
const STOP_MS = 2_000;

export function openTracing(config: Config, log: Log): Tracer & AsyncDisposable {
  const exporter = createExporter(config, log);
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: Math.min(
      config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      config.OTEL_BSP_MAX_QUEUE_SIZE,
    ),
  });
  const attributes = {
    ...pairsOf(config.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    'service.name': config.OTEL_SERVICE_NAME,
    'process.pid': process.pid,
    'gateway.roles': config.ROLES,
  };
  const sampler = samplerOf(config);
  const roots = new Roots(sampler);
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler,
    spanProcessors: [processor],
    idGenerator: roots,
  });
  const tracer = provider.getTracer('integration-gateway');
  return {
    isOn: true,
    begin(name, { parent, ...options }) {
      if (!parent && !roots.isNextSampled(name)) return NO_SPAN;
      return begun(tracer, name, options, contextOf(parent));
    },
    [Symbol.asyncDispose]: () => endWithin(provider.shutdown(), STOP_MS),
  };
}

/** Decides on a trace that begins here before anything is made for it: one that is not sampled costs next to nothing. */
class Roots implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  readonly #sampler: Sampler;
  #decidedId: string | null = null;

  constructor(sampler: Sampler) {
    this.#sampler = sampler;
  }

  /** Of the next trace, which has the id that was decided on. */
  isNextSampled(name: string): boolean {
    const traceId = this.#random.generateTraceId();
    const { INTERNAL } = SpanKind;
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, traceId, name, INTERNAL, {}, []);
    this.#decidedId = decision === SamplingDecision.NOT_RECORD ? null : traceId;
    return this.#decidedId !== null;
  }

  generateTraceId(): string {
    const traceId = this.#decidedId ?? this.#random.generateTraceId();
    this.#decidedId = null;
    return traceId;
  }

  generateSpanId(): string {
    return this.#random.generateSpanId();
  }
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

function begun(
  tracer: OtelTracer,
  name: string,
  { kind = 'internal', attributes = {} }: SpanOptions,
  parent: Context,
): Span {
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
  return new TracedSpan(tracer, span, parent);
}

class TracedSpan implements Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly #tracer: OtelTracer;
  readonly #span: OtelSpan;
  readonly #parent: Context;
  readonly #isSampled: boolean;
  #isOver = false;

  constructor(tracer: OtelTracer, span: OtelSpan, parent: Context) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.#isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
    this.#tracer = tracer;
    this.#span = span;
    this.#parent = parent;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-${this.#isSampled ? '01' : '00'}`;
  }

  get isRecorded(): boolean {
    return this.#isSampled && !this.#isOver;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(name: string, options: SpanOptions): Span {
    return begun(this.#tracer, name, options, trace.setSpan(this.#parent, this.#span));
  }

  set(attributes: SpanOptions['attributes'] & object): void {
    this.#span.setAttributes(attributes);
  }

  end(failure?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', failure);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** W3C Trace Context, version 00 and what later versions begin with. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** What is no traceparent begins a trace. */
function contextOf(traceparent: string | null | undefined): Context {
  const [, traceId = '', spanId = '', flags = '0'] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const remote: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  return traceId ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
}
