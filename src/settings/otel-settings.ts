/** The standard OpenTelemetry variables that the gateway supports. */
import { z } from 'zod';
import { Secret } from '../kernel/secrets.ts';
import { httpUrl, wholeNumber } from './setting-kinds.ts';

const headerList = z
  .string()
  .refine(
    (text) => text.split(',').every((pair) => /^\s*[^=\s]+\s*=/.test(pair)),
    'must be name=value, comma-separated',
  )
  .transform((text) => new Secret(text));

export const otelSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe(
      'Base URL of the OTLP receiver of traces, to which /v1/traces is appended; default: none, nothing is traced',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl
    .optional()
    .describe('Complete URL of the receiver; takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/protobuf'])
    .default('http/protobuf')
    .describe('Protocol by which traces are sent'),
  OTEL_EXPORTER_OTLP_HEADERS: headerList
    .optional()
    .describe(
      'Headers for the receiver of traces: name=value, comma-separated, values URL-encoded',
    ),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(10_000, 1, 600_000).describe(
    'Milliseconds in which the receiver must respond',
  ),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .default('integration-gateway')
    .describe('Name of the service in traces'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe('Further attributes of this process in traces: name=value, comma-separated'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ])
    .default('parentbased_always_on')
    .describe(
      'Which traces are sent; the parentbased ones follow the sampling decision in traceparent',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of traces that the traceidratio samplers keep, 0 to 1'),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(5_000, 1, 600_000).describe(
    'Milliseconds between two span exports',
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(2_048, 1, 1_000_000).describe(
    'Spans that wait to be exported; more are dropped',
  ),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(512, 1, 1_000_000).describe(
    'Spans of one export; at most OTEL_BSP_MAX_QUEUE_SIZE',
  ),
  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .describe('If true, nothing is traced, whatever else is set'),
};
