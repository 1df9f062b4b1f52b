/** Exports traces over OTLP with OpenTelemetry's SDK. Loaded only if a receiver is configured. */
import { context, propagation, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  ExportResultCode,
  parseKeyPairsIntoRecord,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  createAlwaysRecordSampler,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../kernel/log.ts';
import type { Config } from '../settings/config.ts';
import { endWithin } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';

/** How long a stop waits for an unresponsive receiver. */
const STOP_TIMEOUT_MS = 2_000;
const PARENT_BASED = 'parentbased_';

export function openTracing(config: Config, log: Log): { tracer: Tracer } & AsyncDisposable {
  // A process has one context manager and one propagator, which several apps in the process share.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const attributes = {
    ...parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES),
    'service.name': config.OTEL_SERVICE_NAME,
    'process.pid': process.pid,
    'gateway.roles': config.ROLES,
  };
  const processor = new BatchSpanProcessor({
    exporter: createExporter(config, log),
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: Math.min(
      config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      config.OTEL_BSP_MAX_QUEUE_SIZE,
    ),
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler: createSampler(config),
    spanProcessors: [processor],
  });
  return {
    tracer: provider.getTracer('integration-gateway'),
    [Symbol.asyncDispose]: () => endWithin(provider.shutdown(), STOP_TIMEOUT_MS),
  };
}

/** Creates an exporter that drops spans while the receiver is unavailable, so that work never waits for it. */
function createExporter(config: Config, log: Log): SpanExporter {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url } = config;
  const exporter = new OTLPTraceExporter({
    url: url ?? `${baseUrl?.replace(/\/+$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS?.reveal()),
    timeoutMillis: config.OTEL_EXPORTER_OTLP_TIMEOUT,
  });
  const outage = new Outage(log, 'traces.not_sent');
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) outage.end();
        else outage.recordFailure(result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

/**
 * Creates the sampler that OTEL_TRACES_SAMPLER names. Spans of a trace that the caller does not sample are recorded but
 * not exported. The gateway then passes the trace context on to the services that it calls.
 */
function createSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG }: Config): Sampler {
  const root = createRootSampler(name.replace(PARENT_BASED, ''), OTEL_TRACES_SAMPLER_ARG);
  if (!name.startsWith(PARENT_BASED)) return createAlwaysRecordSampler(root);
  const remoteParentNotSampled = createAlwaysRecordSampler(new AlwaysOffSampler());
  return new ParentBasedSampler({ root, remoteParentNotSampled });
}

function createRootSampler(name: string, share: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(share);
}
