/**
 * Server process with a sandbox at SANDBOX_URL. WITHOUT_PROVIDER_KEYS disables the sandbox's idempotency
 * keys. A message from the parent sets the clock ahead, so that tests need not wait.
 */
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/log.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';

let aheadMs = 0;
process.on('message', (ms: number) => {
  aheadMs = ms;
});

const sandbox = createSandboxProvider(() => process.env.SANDBOX_URL as string);
const isWithoutKeys = process.env.WITHOUT_PROVIDER_KEYS !== undefined;
const features = { ...sandbox.features, ...(isWithoutKeys && { idempotencyKeyLifetimeMs: null }) };
const app = await createApp(readConfig(process.env), {
  log: createLog('silent'),
  now: () => new Date(Date.now() + aheadMs),
  providers: [{ ...sandbox, features }],
});
const { url } = await app.start();
process.send?.(url);
