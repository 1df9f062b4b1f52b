import { z } from 'zod';

/** Settings that `PUT /control/settings` can change while the server runs. */
export const settingsSchema = z.strictObject({
  /** The lifetime of access tokens that are issued after the change. */
  tokenLifetimeSeconds: z.int().min(1).max(86_400),
  /** The rate limit of all callers together, for paths under /objects. */
  requestsPerSecond: z.number().positive().max(100_000),
  /** The lifetime of webhook subscriptions that are created or renewed after the change. */
  subscriptionLifetimeSeconds: z.int().min(1).max(31_536_000),
  /** Faults that the sandbox injects into its webhooks. */
  webhooks: z.strictObject({
    /** Sends each request twice. */
    doubled: z.boolean().default(false),
    /** Reverses the order of the events in a request. */
    reordered: z.boolean().default(false),
    /** Sends a request with a wrong signature before each request. */
    forged: z.boolean().default(false),
    /** Sends no request. */
    dropped: z.boolean().default(false),
    /** The delay before each request. */
    delayMs: z.int().min(0).max(60_000).default(0),
  }),
});
export type Settings = z.infer<typeof settingsSchema>;

export function createDefaultSettings(): Settings {
  return {
    tokenLifetimeSeconds: 3_600,
    // More than one process can serve, so practically no limit.
    requestsPerSecond: 20_000,
    subscriptionLifetimeSeconds: 7 * 86_400,
    webhooks: { doubled: false, reordered: false, forged: false, dropped: false, delayMs: 0 },
  };
}
