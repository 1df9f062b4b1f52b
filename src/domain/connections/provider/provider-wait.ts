/** While a request waits for a provider, it releases its slot and counts against a separate limit. */
import type { Call, Services } from '../../access/call.ts';

/** Services with the slot of the waiting request. Background work has no slot and separate limits. */
export type Waiter = Services & Pick<Call, 'slot'>;

/** The account that a request waits for. Without a connection, only the shares of the caller and the project count. */
interface ProviderWaitTarget {
  projectId: string;
  connectionId?: string;
}

/**
 * Runs work that waits for a provider. If several calls share a request to a provider, each of them counts. Throws
 * RATE_LIMITED or SERVICE_UNAVAILABLE without running the work if too many requests are waiting for providers.
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
 * Works like `waitForProvider`, for work that continues after its result. The wait ends when `waitForEnd(result)` settles.
 */
export async function waitForProviderBeyond<T>(
  { slot }: Waiter,
  target: ProviderWaitTarget,
  work: () => Promise<T>,
  waitForEnd: (result: T) => Promise<unknown>,
): Promise<T> {
  if (!slot) return work();
  const release = slot.waitForProvider(target);
  try {
    const result = await work();
    // A failure of the remaining work is reported by that work.
    waitForEnd(result).then(release, release);
    return result;
  } catch (error) {
    release();
    throw error;
  }
}
