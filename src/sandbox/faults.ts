import { z } from 'zod';

/** A fault: what fails, for which requests, and how often. */
export const faultSchema = z
  .strictObject({
    /** The status that is answered instead of doing the work. */
    status: z.int().min(300).max(599).optional(),
    /** Sent as Retry-After with `status`. */
    retryAfterSeconds: z.int().min(0).max(86_400).optional(),
    /** The work is done at once, its answer waits: a client that gave up finds it done. */
    delayMs: z.int().min(0).max(120_000).optional(),
    /** The connection is cut before the work, or after it and before its answer. */
    drop: z.enum(['before', 'after']).optional(),
    /** How many requests fail by it. */
    times: z.int().min(1).max(1_000_000).default(1),
    method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']).optional(),
    pathPrefix: z.string().startsWith('/').optional(),
  })
  .refine(({ status, delayMs, drop }) => (status ?? delayMs ?? drop) !== undefined, {
    message: 'One of status, delayMs and drop is needed',
  })
  .refine(({ status, drop }) => status === undefined || drop === undefined, {
    message: 'A dropped connection has no status',
  });
export type Fault = z.output<typeof faultSchema>;

/** Holds one fault; setting another replaces it. */
export class Faults {
  #fault: Fault | null = null;
  #timesLeft = 0;

  set(fault: z.input<typeof faultSchema>): void {
    this.#fault = faultSchema.parse(fault);
    this.#timesLeft = this.#fault.times;
  }

  clear(): void {
    this.#fault = null;
  }

  /** The fault for this request, which then counts as used once; requests to /control never get one. */
  take(method: string, path: string): Fault | null {
    const fault = this.#fault;
    if (fault === null || this.#timesLeft === 0 || path.startsWith('/control/')) return null;
    if (fault.method !== undefined && fault.method !== method) return null;
    if (!path.startsWith(fault.pathPrefix ?? '/')) return null;
    this.#timesLeft -= 1;
    return fault;
  }
}
