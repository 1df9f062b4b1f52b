import { vi } from 'vitest';
import { getSharedApp } from '../../app.ts';
import { MovedClock } from './moved-clock.ts';
import type { Stage } from './reads.ts';
import type { DifficultVendor } from './vendors.ts';

/** Opens one app for all vendors. Its clock is moved, and each provider requests the server that was started last. */
export async function openStage(vendors: DifficultVendor[]): Promise<Stage> {
  const clock = new MovedClock();
  let url = '';
  const providers = vendors.map((vendor) =>
    Object.defineProperty(vendor.createProvider(), 'baseUrl', { get: () => url, enumerable: true }),
  );
  const app = await getSharedApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    now: clock.now,
    random: () => 0.5,
    providers,
  });
  // The pause after a rate limit lasts in real time, and has its own tests.
  vi.spyOn(app.app.services.providerAccess.limits, 'pause').mockImplementation(() => {});
  const setUrl = (serverUrl: string) => {
    url = serverUrl;
  };
  return { app, clock, setUrl };
}
