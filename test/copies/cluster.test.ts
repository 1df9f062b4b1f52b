/**
 * A cluster is copied to one server while nothing changes it, and refused as a target.
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
} from '../support/copies/copied-databases.ts';
import { acquirePostgres } from '../support/database/postgres-databases.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { runCommand } from '../support/process/run-command.ts';

const PROJECTS = 4;

test.skipIf(!onCitus)(
  'moves, backs up and restores a cluster only while no gateway runs on it',
  async () => {
    const database = await acquirePostgres();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const cluster: DatabaseEnv = { ...database.env, DATA_DIR: createFolder(), ENCRYPTION_KEY };
    const target = createEmbeddedDatabase();
    const file = join(createFolder(), 'backup');
    const sealed = { BACKUP_PASSPHRASE: 'correct horse battery' };

    const app = await startGateway(cluster);
    for (let count = 0; count < PROJECTS; count += 1) await generateConnection(await app.tenant());
    const runMove = () => runCommand('move', ['--to', target.DATA_DIR], cluster);
    const runBackup = () => runCommand('backup', [file], { ...cluster, ...sealed });
    for (const running of [await runMove(), await runBackup()]) {
      expect(running).toMatchObject({ code: 1 });
      expect(running.output).toContain('A gateway runs on the cluster');
    }
    await app[Symbol.asyncDispose]();

    const before = await openAndReadRows(cluster);
    expect(before.Group).toHaveLength(PROJECTS);
    expect(await runMove()).toMatchObject({ code: 0 });
    expect(await openAndReadRows(target)).toEqual(before);
    expect(await runBackup()).toMatchObject({ code: 0 });
    const restored = {
      DATA_DIR: createFolder(),
      DATABASE_URL: await createPostgresDatabase(),
      ENCRYPTION_KEY,
    };
    const runRestore = (env: DatabaseEnv) =>
      runCommand('restore', [file], { ...env, ...sealed });
    expect(await runRestore(restored)).toMatchObject({ code: 0 });
    // Positions continue far beyond those that may have been published after the backup.
    expect({ ...(await openAndReadRows(restored)), EventLog: before.EventLog }).toEqual(before);
    const intoCluster = await runRestore(cluster);
    expect(intoCluster).toMatchObject({ code: 1 });
    expect(intoCluster.output).toContain('The target database is already distributed');

    const movedBack = await runCommand('move', ['--to', cluster.DATABASE_URL ?? ''], target);
    expect(movedBack).toMatchObject({ code: 1 });
    expect(movedBack.output).toContain('The target database is already distributed');
  },
);
