/** Traces jobs as spans of the trace in which they were enqueued. */
import { SpanKind } from '@opentelemetry/api';
import type { JobName } from './jobs.ts';

/** The member of a job's data, next to its payload, with which the process that runs the job continues the trace. */
export const TRACEPARENT = 'traceparent';

/** Returns the options of a job's span. Its attributes are the payload, which contains only ids. */
export function createJobSpan(name: JobName, payload: object, parent: string | null) {
  const ids = Object.entries(payload).map(([key, id]) => [`gateway.job.${key}`, String(id)]);
  const attributes: Record<string, string> = Object.fromEntries(ids);
  return { name: `job ${name}`, kind: SpanKind.CONSUMER, parent, attributes };
}

/** Returns the trace of a job from its data. Null if the job was enqueued outside of traces. */
export function findTraceparent(data: unknown): string | null {
  const traceparent = (data as { [TRACEPARENT]?: unknown } | null)?.[TRACEPARENT];
  return typeof traceparent === 'string' ? traceparent : null;
}
