/** Accounts for requests that wait for a provider: they release their slot and count against a separate limit. */
import type { Call, Services } from '../call.ts';

/** Services with the slot of the waiting request. Background work has no slot, and its own limits. */
export type Waiter = Services & Pick<Call, 'slot'>;

/** The account that a request waits for. Without a connection, only the shares of caller and project count. */
interface ProviderWaitTarget {
  projectId: string;
  connectionId?: string;
}

/**
 * Runs work that waits for a provider. Calls that share one request to a provider wait each for themselves. Throws
 * RATE_LIMITED or SERVICE_UNAVAILABLE, with nothing run, if too many requests wait for providers.
 */
export async function waitingForProvider<T>(
  { slot }: Waiter,
  awaited: ProviderWaitTarget,
  work: () => Promise<T>,
): Promise<T> {
  if (!slot) return work();
  const release = slot.waitForProvider(awaited);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Like `waitingForProvider`, for work that continues after its result: the wait ends when `findEnd(result)` settles.
 */
export async function waitingBeyond<T>(
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
