/** A job as a part of the trace in which it was enqueued. */
import type { JobName } from './jobs.ts';

/** Beside the payload in a job's data: the trace goes on in the process that runs it. */
export const TRACEPARENT = 'traceparent';

/** The payload names rows and holds no data. */
export function jobSpan(name: JobName, payload: object, parent: string | null) {
  const ids = Object.entries(payload).map(([key, id]) => [`gateway.job.${key}`, String(id)]);
  const attributes: Record<string, string> = Object.fromEntries(ids);
  return { name: `job ${name}`, kind: 'consumer' as const, parent, attributes };
}

/** Of a job's data; null if it was enqueued by work without a trace. */
export function traceparentOf(data: unknown): string | null {
  const given = (data as { [TRACEPARENT]?: unknown } | null)?.[TRACEPARENT];
  return typeof given === 'string' ? given : null;
}
