/** Accounts for requests that wait for a provider: they release their slot and count against a separate limit. */
import type { Call, Services } from '../call.ts';

/** Services with the slot of the waiting request. Background work has no slot, and limits of its own. */
export type Waiter = Services & Pick<Call, 'slot'>;

/** The account for which a request waits. Without a connection, only the shares of caller and project count. */
interface ProviderWaitTarget {
  projectId: string;
  connectionId?: string;
}

/**
 * Runs work that waits for a provider. Each of several calls that share one request to a provider counts as waiting.
 * Throws RATE_LIMITED or SERVICE_UNAVAILABLE before it runs anything if too many requests wait for providers.
 */
export async function waitForProvider<T>(
  { slot }: Waiter,
  target: ProviderWaitTarget,
  work: () => Promise<T>,
): Promise<T> {
  if (!slot) return work();
  const release = slot.waitForProvider(target);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Works like `waitForProvider`, for work that continues after its result. The wait ends when `findEnd(result)` settles.
 */
export async function waitForProviderBeyond<T>(
  { slot }: Waiter,
  awaited: ProviderWaitTarget,
  work: () => Promise<T>,
  findEnd: (result: T) => Promise<unknown>,
): Promise<T> {
  if (!slot) return work();
  const release = slot.waitForProvider(awaited);
  try {
    const result = await work();
    // A failure of the remaining work is reported by that work.
    findEnd(result).then(release, release);
    return result;
  } catch (error) {
    release();
    throw error;
  }
}
