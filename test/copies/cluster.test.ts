/**
 * A cluster is copied to one server while nothing changes it, and refused as a target.
 *
 * @module-tag all/process
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onCitus } from '../support/app.ts';
import {
  contentAt,
  newEmbedded,
  newFolder,
  newPostgres,
  type Place,
  runCommand,
  startAt,
} from '../support/copies/places.ts';
import { lendPostgres } from '../support/database/postgres-databases.ts';
import { generate } from '../support/scenes/connections.ts';

const PROJECTS = 4;

test.skipIf(!onCitus)(
  'moves, backs up and restores a cluster only while no gateway runs on it',
  async () => {
    const lent = await lendPostgres();
    onTestFinished(() => lent[Symbol.asyncDispose]());
    const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
    const cluster: Place = { ...lent.env, DATA_DIR: newFolder(), ENCRYPTION_KEY };
    const target = newEmbedded();
    const file = join(newFolder(), 'backup');
    const passphrase = { BACKUP_PASSPHRASE: 'of the test' };

    const app = await startAt(cluster);
    for (let count = 0; count < PROJECTS; count += 1) await generate(await app.tenant());
    const moved = () => runCommand('move', ['--to', target.DATA_DIR], cluster);
    const backedUp = () => runCommand('backup', [file], { ...cluster, ...passphrase });
    for (const running of [await moved(), await backedUp()]) {
      expect(running).toMatchObject({ code: 1 });
      expect(running.output).toContain('A gateway runs on the cluster');
    }
    await app[Symbol.asyncDispose]();

    const before = await contentAt(cluster);
    expect(before.Group).toHaveLength(PROJECTS);
    expect(await moved()).toMatchObject({ code: 0 });
    expect(await contentAt(target)).toEqual(before);
    expect(await backedUp()).toMatchObject({ code: 0 });
    const restored = { DATA_DIR: newFolder(), DATABASE_URL: await newPostgres(), ENCRYPTION_KEY };
    const restoredAt = (place: Place) => runCommand('restore', [file], { ...place, ...passphrase });
    expect(await restoredAt(restored)).toMatchObject({ code: 0 });
    // Positions continue far beyond those that may have been published after the backup.
    expect({ ...(await contentAt(restored)), EventLog: before.EventLog }).toEqual(before);
    const into = await restoredAt(cluster);
    expect(into).toMatchObject({ code: 1 });
    expect(into.output).toContain('are spread over the nodes of a cluster already');

    const back = await runCommand('move', ['--to', cluster.DATABASE_URL ?? ''], target);
    expect(back).toMatchObject({ code: 1 });
    expect(back.output).toContain('are spread over the nodes of a cluster already');
  },
);
