/** Seals destinations as a start does, and is killed after `SEALED_VALUES` of their values. */

import { openDatabase } from '../../../src/database/open/open-database.ts';
import type { RunStatement } from '../../../src/database/statements/statements.ts';
import { loadEncryptionKeys } from '../../../src/domain/tenants/keys/encryption-keys.ts';
import { sealPlainTargets } from '../../../src/domain/tenants/keys/plain-targets.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createVault } from '../../../src/kernel/secrets.ts';
import { readConfig } from '../../../src/settings/config.ts';

let updatesLeft = Number(process.env.SEALED_VALUES);
const config = readConfig(process.env);
const database = await openDatabase(config, createLog('silent'));
const run: RunStatement = async (statement, input) => {
  if (statement.text.trimStart().startsWith('update') && updatesLeft-- === 0)
    process.kill(process.pid, 'SIGKILL');
  return database.run(statement, input);
};
await sealPlainTargets(run, createVault(loadEncryptionKeys(config)));
