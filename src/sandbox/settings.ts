import { z } from 'zod';

/** Settings that `PUT /control/settings` can change while the server runs. */
export const settingsSchema = z.strictObject({
  /** The lifetime of access tokens that are issued after the change. */
  tokenLifetimeSeconds: z.int().min(1).max(86_400),
  /** The rate limit of all callers together, for paths under /objects. */
  requestsPerSecond: z.number().positive().max(100_000),
  /** The lifetime of webhook subscriptions that are created or renewed after the change. */
  subscriptionLifetimeSeconds: z.int().min(1).max(31_536_000),
  /** Faults of webhooks. */
  webhooks: z.strictObject({
    /** Each request is sent twice. */
    doubled: z.boolean().default(false),
    /** The events of a request are in reverse order. */
    reordered: z.boolean().default(false),
    /** A request with a wrong signature precedes each request. */
    forged: z.boolean().default(false),
    /** No request is sent. */
    dropped: z.boolean().default(false),
    /** The delay before each request. */
    delayMs: z.int().min(0).max(60_000).default(0),
  }),
});
export type Settings = z.infer<typeof settingsSchema>;

export function createDefaultSettings(): Settings {
  return {
    tokenLifetimeSeconds: 3_600,
    // More than one process can serve. By default there is practically no limit.
    requestsPerSecond: 20_000,
    subscriptionLifetimeSeconds: 7 * 86_400,
    webhooks: { doubled: false, reordered: false, forged: false, dropped: false, delayMs: 0 },
  };
}
