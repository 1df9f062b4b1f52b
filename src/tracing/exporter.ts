/** Sends spans to the receiver. If it is away they are lost: work never waits for it. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { Outage } from '../work/outage.ts';
import { pairsOf } from './pairs.ts';

const SUCCESS = 0;

export function createExporter(config: Config, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({
    url: receiverOf(config),
    headers: pairsOf(config.OTEL_EXPORTER_OTLP_HEADERS?.reveal() ?? ''),
    timeoutMillis: config.OTEL_EXPORTER_OTLP_TIMEOUT,
  });
  const outage = new Outage(log, 'traces.not_sent');
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code === SUCCESS) outage.ended();
        else outage.failed(result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

function receiverOf(config: Config): string {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = config;
  return whole ?? `${base?.replace(/\/+$/, '')}/v1/traces`;
}
