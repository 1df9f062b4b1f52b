/**
 * Limits the requests and bytes that a provider may send to one app. Both are token buckets in this process's memory.
 * Only signed requests count, so that other senders can't use up the provider's limit.
 */
import type { Config } from '../../../settings/config.ts';
import { createTokenBuckets } from '../../../work/token-buckets.ts';

export interface EventRates {
  /**
   * Returns 0 and counts the request if it is within the limits. If not, returns the seconds after which the provider may
   * retry.
   */
  take(providerAppId: string, bytes: number): number;
}

type RateConfig = Pick<Config, 'LIMIT_EVENT_REQUESTS_PER_SECOND' | 'LIMIT_EVENT_BYTES_PER_SECOND'>;

/** Providers send in bursts. A provider must retry what exceeds a burst of this length. */
const BURST_SECONDS = 2;

export function createEventRates(config: RateConfig): EventRates {
  const createBuckets = (perSecond: number) =>
    createTokenBuckets({ perSecond, burst: perSecond * BURST_SECONDS }, () => performance.now());
  const requestBuckets = createBuckets(config.LIMIT_EVENT_REQUESTS_PER_SECOND);
  const byteBuckets = createBuckets(config.LIMIT_EVENT_BYTES_PER_SECOND);
  return {
    take(providerAppId, bytes) {
      const waitSeconds = Math.max(
        requestBuckets.getWaitSeconds(providerAppId),
        byteBuckets.getWaitSeconds(providerAppId, bytes),
      );
      if (waitSeconds > 0) return waitSeconds;
      requestBuckets.take(providerAppId);
      byteBuckets.take(providerAppId, bytes);
      return 0;
    },
  };
}
