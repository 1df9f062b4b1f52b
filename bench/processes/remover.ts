/** Removes expired rows on request in a separate process, as a worker's sweep does. */
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { removeExpired } from '../../src/domain/retention.ts';
import { createLog } from '../../src/log.ts';

export interface RemoveRequest {
  ms: number;
}

await using app = await createApp(readConfig(process.env), { log: createLog('error') });
process.on('message', async ({ ms }: RemoveRequest) => {
  const removed = await removeExpired(app.services, { signal: AbortSignal.timeout(ms) });
  process.send?.(removed.Delivery ?? 0);
});
process.send?.('ready');
await new Promise((resolve) => process.on('disconnect', resolve));
