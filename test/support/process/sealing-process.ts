/** Seals destinations as a start does, and is killed after `SEALED_VALUES` of their values. */

import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { loadEncryptionKeys } from '../../../src/domain/tenants/keys/encryption-keys.ts';
import { sealPlainTargets } from '../../../src/domain/tenants/keys/plain-targets.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createVault } from '../../../src/kernel/secrets.ts';
import { readConfig } from '../../../src/settings/config.ts';

let updatesLeft = Number(process.env.SEALED_VALUES);
const config = readConfig(process.env);
const database = await openDatabase(config, createLog('silent'));
const query: RunQuery = async (text, values, rowMode) => {
  if (text.startsWith('update') && updatesLeft-- === 0) process.kill(process.pid, 'SIGKILL');
  return database.rows.query(text, values, rowMode);
};
await sealPlainTargets(query, createVault(loadEncryptionKeys(config)));
