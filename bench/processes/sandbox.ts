/**
 * Runs the provider in a separate process, so that its CPU time counts neither as the gateway's nor towards the measured
 * limit. Sends its URL at the start, and its number of contacts after each message.
 */
import { startSandboxServer } from '../../src/sandbox/server.ts';

const sandbox = await startSandboxServer({ host: '127.0.0.1', port: 0 });
sandbox.settings.requestsPerSecond = 100_000;

process.on('message', ({ seed }: { seed?: number }) => {
  if (seed !== undefined) sandbox.seed('contacts', seed);
  process.send?.(sandbox.listRecords('contacts').length);
});
process.on('disconnect', () => process.exit(0));
process.send?.(sandbox.url);
