import { z } from 'zod';
import { TABLE_NAMES } from './records/objects.ts';
import type { Seeder } from './records/seed.ts';
import { RECORDS_PER_OBJECT_MAX } from './records/workspace.ts';
import { parseInput, parseJsonBody } from './request.ts';
import type { SandboxRoute } from './router.ts';
import { type Settings, settingsSchema } from './settings.ts';

/** A fault that the sandbox injects: the kind of failure, the affected requests, and how many of them fail. */
const faultSchema = z
  .strictObject({
    /** The status of the response. The request is not executed. */
    status: z.int().min(300).max(599).optional(),
    /** The Retry-After header of the response with `status`. */
    retryAfterSeconds: z.int().min(0).max(86_400).optional(),
    /** Delays the response. The request is executed immediately, even if the client disconnects. */
    delayMs: z.int().min(0).max(120_000).optional(),
    /** Closes the connection before the request is executed, or after it and before the response. */
    drop: z.enum(['before', 'after']).optional(),
    /** The number of requests that fail. */
    times: z.int().min(1).max(1_000_000).default(1),
    method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']).optional(),
    pathPrefix: z.string().startsWith('/').optional(),
  })
  .refine(({ status, delayMs, drop }) => (status ?? delayMs ?? drop) !== undefined, {
    message: 'Set status, delayMs or drop',
  })
  .refine(({ status, drop }) => status === undefined || drop === undefined, {
    message: 'A dropped connection has no status',
  });
export type Fault = z.output<typeof faultSchema>;

/** Holds one fault. A new fault replaces it. */
export class Faults {
  #fault: Fault | null = null;
  #remainingTimes = 0;

  set(fault: z.input<typeof faultSchema>): void {
    this.#fault = faultSchema.parse(fault);
    this.#remainingTimes = this.#fault.times;
  }

  clear(): void {
    this.#fault = null;
  }

  /** Returns the fault for this request, and counts the request. Requests to /control never fail. */
  take(method: string, path: string): Fault | null {
    const fault = this.#fault;
    if (fault === null || this.#remainingTimes === 0 || path.startsWith('/control/')) return null;
    if (fault.method !== undefined && fault.method !== method) return null;
    if (!path.startsWith(fault.pathPrefix ?? '/')) return null;
    this.#remainingTimes -= 1;
    return fault;
  }
}

const seedSchema = z.strictObject({
  objectName: z.enum(TABLE_NAMES),
  count: z.int().min(1).max(RECORDS_PER_OBJECT_MAX),
});

interface ControlServices {
  faults: Faults;
  settings: Settings;
  seeder: Seeder;
}

/** Creates the routes that control the sandbox. They need no credentials, and injected faults do not affect them. */
export function createControlRoutes({ faults, settings, seeder }: ControlServices): SandboxRoute[] {
  return [
    {
      method: 'PUT',
      pattern: '/control/faults',
      handle(request) {
        const fault = parseInput(faultSchema, parseJsonBody(request));
        faults.set(fault);
        return { status: 200, json: fault };
      },
    },
    {
      method: 'DELETE',
      pattern: '/control/faults',
      handle() {
        faults.clear();
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      pattern: '/control/settings',
      handle(request) {
        Object.assign(settings, parseInput(settingsSchema.partial(), parseJsonBody(request)));
        return { status: 200, json: settings };
      },
    },
    {
      method: 'POST',
      pattern: '/control/seed',
      handle(request) {
        const { objectName, count } = parseInput(seedSchema, parseJsonBody(request));
        seeder.seed(objectName, count);
        return { status: 201, json: { objectName, count } };
      },
    },
  ];
}
