/**
 * How much a provider may send to one app: requests and bytes, each a token bucket in this process's memory. Only
 * signed requests count, so that whoever knows an address can't use up what its provider is given.
 */
import type { Config } from '../../config.ts';
import { createTokenBuckets } from '../../work/token-buckets.ts';

export interface EventRates {
  /** 0 if the request may be taken, which counts it; else the seconds until it may come again. */
  take(providerAppId: string, bytes: number): number;
}

type RateConfig = Pick<Config, 'LIMIT_EVENT_REQUESTS_PER_SECOND' | 'LIMIT_EVENT_BYTES_PER_SECOND'>;

/** A provider sends in bursts; it is to keep what comes above them. */
const BURST_SECONDS = 2;

/** `nowMs` is a clock that never goes back. */
export function createEventRates(
  config: RateConfig,
  nowMs: () => number = () => performance.now(),
): EventRates {
  const bucketsOf = (perSecond: number) =>
    createTokenBuckets({ perSecond, burst: perSecond * BURST_SECONDS }, nowMs);
  const requests = bucketsOf(config.LIMIT_EVENT_REQUESTS_PER_SECOND);
  const bytes = bucketsOf(config.LIMIT_EVENT_BYTES_PER_SECOND);
  return {
    take(providerAppId, count) {
      const waitSeconds = Math.max(requests.wait(providerAppId), bytes.wait(providerAppId, count));
      if (waitSeconds > 0) return waitSeconds;
      requests.take(providerAppId);
      bytes.take(providerAppId, count);
      return 0;
    },
  };
}
