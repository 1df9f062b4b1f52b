/** Process that sends the due deliveries of the database in DATABASE_URL, until SIGTERM or SIGKILL. */
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { startDeliveries } from '../../../src/deliveries/delivery-worker.ts';
import { createLog } from '../../../src/log.ts';
import { NO_METERS } from '../../../src/meters.ts';
import { createOutbound } from '../../../src/outbound/client.ts';
import { vault } from '../../support/fixtures/deliveries.ts';

const config = readConfig(process.env);
const log = createLog('silent');
const database = await openDatabase(config, log);
const outbound = createOutbound({
  allowedPrivateTargets: ['127.0.0.1/32'],
  alwaysAllowedOrigins: () => [],
});
const deliveries = startDeliveries({
  database,
  vault,
  outbound,
  config,
  log,
  meters: NO_METERS,
  tracer: null,
  now: database.now,
  random: Math.random,
  // Deliveries that a killed process had leased are due again after this lease. It is short, so that many
  // kills fit in a run.
  limits: { attemptMs: 1_000, leaseMs: 2_000 },
});
process.on('SIGTERM', async () => {
  await deliveries[Symbol.asyncDispose]();
  await outbound[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  process.exit(0);
});
process.send?.('sending');
