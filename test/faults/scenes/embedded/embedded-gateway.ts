/** Prepares an embedded database with a tenant, in a folder that outlives servers on it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/config.ts';
import { openDatabase } from '../../../../src/database/database.ts';
import { createLog } from '../../../../src/log.ts';
import { testApp } from '../../../support/app.ts';
import { fillDataFolder } from '../../../support/database/data-folder.ts';
import { ENCRYPTION_KEY } from '../gateway.ts';
import type { OwnTenant } from '../own-server.ts';

export interface EmbeddedScene {
  env: Record<string, string>;
  tenant: OwnTenant;
}

/** Default: a new folder. */
export async function prepareEmbedded(folder = ownFolder()): Promise<EmbeddedScene> {
  const env = {
    DATA_DIR: join(folder, 'data'),
    ENCRYPTION_KEY,
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
  };
  fillDataFolder(env.DATA_DIR);
  const database = await openDatabase(readConfig(env), createLog('silent'));
  await using app = await testApp({ env, database });
  const { projectId, projectName, apiKey } = await app.tenant();
  return { env, tenant: { projectId, projectName, apiKey } };
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-embedded-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
