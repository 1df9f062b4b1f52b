import { z } from 'zod';

/** What `PUT /control/settings` can change while the server runs. */
export const settingsSchema = z.strictObject({
  /** Lifetime of access tokens issued from now on. */
  tokenLifetimeSeconds: z.int().min(1).max(86_400),
  /** Of all callers together, under /objects. */
  requestsPerSecond: z.number().positive().max(100_000),
  /** Lifetime of webhook subscriptions that are made or renewed from now on. */
  subscriptionLifetimeSeconds: z.int().min(1).max(31_536_000),
  /** How webhooks go wrong. A request is sent twice, with its events in reverse order, after a forged one, or not at all. */
  webhooks: z.strictObject({
    doubled: z.boolean().default(false),
    reordered: z.boolean().default(false),
    forged: z.boolean().default(false),
    dropped: z.boolean().default(false),
    /** Before each request. */
    delayMs: z.int().min(0).max(60_000).default(0),
  }),
});
export type Settings = z.infer<typeof settingsSchema>;

export function defaultSettings(): Settings {
  // The rate is above what one process answers: nothing is limited until a switch says so.
  return {
    tokenLifetimeSeconds: 3_600,
    requestsPerSecond: 20_000,
    subscriptionLifetimeSeconds: 7 * 86_400,
    webhooks: { doubled: false, reordered: false, forged: false, dropped: false, delayMs: 0 },
  };
}
