import { z } from 'zod';

/** What `PUT /control/settings` can change while the server runs. */
export const settingsSchema = z.strictObject({
  /** Lifetime of access tokens issued from now on. */
  tokenLifetimeSeconds: z.int().min(1).max(86_400),
  /** Of all callers together, under /objects. */
  requestsPerSecond: z.number().positive().max(100_000),
});
export type Settings = z.infer<typeof settingsSchema>;

export function defaultSettings(): Settings {
  // The rate is above what one process answers: nothing is limited until a switch says so.
  return { tokenLifetimeSeconds: 3_600, requestsPerSecond: 20_000 };
}
