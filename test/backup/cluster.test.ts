/**
 * Commands copy a cluster to one server only while no gateway runs, and refuse a cluster as their target.
 *
 * @module-tag all/process
 */

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onCitus } from '../support/app.ts';
import {
  createEmbeddedDatabase,
  createFolder,
  createPostgresDatabase,
  type DatabaseEnv,
  openAndReadRows,
  startGateway,
} from '../support/backup/copied-databases.ts';
import { acquirePostgres } from '../support/database/postgres-databases.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { runCommand } from '../support/process/run-command.ts';

const PROJECT_COUNT = 4;

test.skipIf(!onCitus)(
  'moves, backs up and restores a cluster only while no gateway runs on it',
  async () => {
    const database = await acquirePostgres();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const cluster: DatabaseEnv = { ...database.env, DATA_DIR: createFolder(), ENCRYPTION_KEY };
    const target = createEmbeddedDatabase();
    const file = join(createFolder(), 'backup');
    const passphraseEnv = { BACKUP_PASSPHRASE: 'correct horse battery' };

    const app = await startGateway(cluster);
    for (let count = 0; count < PROJECT_COUNT; count += 1)
      await generateConnection(await app.createTenant());
    const runMove = () => runCommand('move', ['--to', target.DATA_DIR], cluster);
    const runBackup = () => runCommand('backup', [file], { ...cluster, ...passphraseEnv });
    for (const refusal of [await runMove(), await runBackup()]) {
      expect(refusal).toMatchObject({ code: 1 });
      expect(refusal.output).toContain('A gateway runs on the cluster');
    }
    await app[Symbol.asyncDispose]();

    const rowsBefore = await openAndReadRows(cluster);
    expect(rowsBefore.Group).toHaveLength(PROJECT_COUNT);
    expect(await runMove()).toMatchObject({ code: 0 });
    expect(await openAndReadRows(target)).toEqual(rowsBefore);
    expect(await runBackup()).toMatchObject({ code: 0 });
    const restoredEnv = {
      DATA_DIR: createFolder(),
      DATABASE_URL: await createPostgresDatabase(),
      ENCRYPTION_KEY,
    };
    const runRestore = (env: DatabaseEnv) =>
      runCommand('restore', [file], { ...env, ...passphraseEnv });
    expect(await runRestore(restoredEnv)).toMatchObject({ code: 0 });
    // The restored positions are far higher than any that the gateway published after the backup.
    expect({ ...(await openAndReadRows(restoredEnv)), EventLog: rowsBefore.EventLog }).toEqual(
      rowsBefore,
    );
    const restoreIntoCluster = await runRestore(cluster);
    expect(restoreIntoCluster).toMatchObject({ code: 1 });
    expect(restoreIntoCluster.output).toContain('The target database is already distributed');

    const moveIntoCluster = await runCommand('move', ['--to', cluster.DATABASE_URL ?? ''], target);
    expect(moveIntoCluster).toMatchObject({ code: 1 });
    expect(moveIntoCluster.output).toContain('The target database is already distributed');
  },
);
