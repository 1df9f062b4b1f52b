/**
 * The server with a sandbox that lives elsewhere (SANDBOX_URL), until it is killed; with
 * WITHOUT_PROVIDER_KEYS as if the sandbox knew no idempotency keys. Its clock can be set ahead by a
 * message, so that nothing has to be waited for.
 */
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/log.ts';
import { sandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';

let aheadMs = 0;
process.on('message', (ms: number) => {
  aheadMs = ms;
});

const sandbox = sandboxProvider(() => process.env.SANDBOX_URL as string);
const isWithoutKeys = process.env.WITHOUT_PROVIDER_KEYS !== undefined;
const takes = { ...sandbox.takes, ...(isWithoutKeys && { idempotencyKeyMs: null }) };
const app = await createApp(readConfig(process.env), {
  log: createLog('silent'),
  now: () => new Date(Date.now() + aheadMs),
  providers: [{ ...sandbox, takes }],
});
const { url } = await app.start();
process.send?.(url);
