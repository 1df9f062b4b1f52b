/** Spans as OpenTelemetry's, sent over OTLP. Loaded only if a receiver of traces is configured. */
import { ROOT_CONTEXT, type SpanContext, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { NO_SPAN, type Tracer } from '../spans.ts';
import { endWithin } from '../work/deadline.ts';
import { createExporter } from './exporter.ts';
import { pairsOf } from './pairs.ts';
import { RecordedSpan, type Recording } from './recorded-span.ts';
import { samplerOf } from './sampler.ts';
import { contextOf } from './trace-context.ts';
import { UnrecordedSpan } from './unrecorded-span.ts';

/** Stopping waits no longer for a receiver that hangs. */
const STOP_MS = 2_000;

export function openTracing(config: Config, log: Log): Tracer & AsyncDisposable {
  const processor = createProcessor(config, log);
  const attributes = {
    ...pairsOf(config.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    'service.name': config.OTEL_SERVICE_NAME,
    'process.pid': process.pid,
    'gateway.roles': config.ROLES,
  };
  const recording: Recording = {
    processor,
    ids: new RandomIdGenerator(),
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
  };
  const sampler = samplerOf(config);
  return {
    isOn: true,
    begin(name, { parent: traceparent, ...options }) {
      const parent = contextOf(traceparent ?? '');
      const traceId = parent?.traceId ?? recording.ids.generateTraceId();
      const isRecorded = isSampled(sampler, name, traceId, parent);
      if (!isRecorded && !parent) return NO_SPAN;
      const traceFlags = isRecorded ? TraceFlags.SAMPLED : TraceFlags.NONE;
      const context = { traceId, spanId: recording.ids.generateSpanId(), traceFlags };
      return isRecorded
        ? RecordedSpan.first(recording, { name, context, parent }, options)
        : new UnrecordedSpan(context);
    },
    [Symbol.asyncDispose]: () => endWithin(processor.shutdown(), STOP_MS),
  };
}

function createProcessor(config: Config, log: Log): BatchSpanProcessor {
  return new BatchSpanProcessor({
    exporter: createExporter(config, log),
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: Math.min(
      config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      config.OTEL_BSP_MAX_QUEUE_SIZE,
    ),
  });
}

/** Asked once for a trace, before anything is made for it. */
function isSampled(
  sampler: Sampler,
  name: string,
  traceId: string,
  parent: SpanContext | undefined,
): boolean {
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  const { decision } = sampler.shouldSample(context, traceId, name, SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}
