/** Removes expired rows on request in a separate process, as a worker's sweep does. */

import { removeExpired } from '../../src/domain/upkeep/retention.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { openServices } from '../../src/start/services.ts';

export interface RemoveRequest {
  ms: number;
}

await using resources = new AsyncDisposableStack();
const { services } = await openServices(
  readConfig(process.env),
  { log: createLog('error') },
  (_name, resource) => resources.use(resource),
);
process.on('message', async ({ ms }: RemoveRequest) => {
  const removed = await removeExpired(services, { signal: AbortSignal.timeout(ms) });
  process.send?.(removed.Delivery ?? 0);
});
process.send?.('ready');
await new Promise((resolve) => process.on('disconnect', resolve));
