/** Places for whole databases, apps on them, and the commands that copy between them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/database/database.ts';
import { Prisma } from '../../../src/database/generated/client.ts';
import { createLog } from '../../../src/log.ts';
import { onPostgres, type TestApp, testApp } from '../app.ts';
import { fillDataFolder } from '../database/data-folder.ts';
import { heldByTests, ofTests } from '../database/tests-own.ts';
import { PROCESS_ENV } from '../process/process-env.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
export const ENV = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', DEMO: 'false' };

/** What a server is told of where its database is. */
export type Place = Record<string, string>;

/** An empty folder; it is removed when the test ends. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-copies-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The URL of an empty database of the run's PostgreSQL. */
export async function newPostgres(): Promise<string> {
  const { serverUrl } = inject('postgres');
  const name = `copy_${crypto.randomUUID().replaceAll('-', '')}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: `${serverUrl}/postgres` });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create database ${name}`);
  onTestFinished(() => run(`drop database if exists ${name} with (force)`));
  return `${serverUrl}/${name}`;
}

/** A folder with an embedded database that is migrated and empty: to make one takes long. */
export function newEmbedded(): { DATA_DIR: string } {
  const DATA_DIR = newFolder();
  fillDataFolder(DATA_DIR);
  return { DATA_DIR };
}

/** An empty place of the kind that this run tests. */
export async function newPlace(): Promise<Place> {
  if (!onPostgres) return newEmbedded();
  const DATA_DIR = newFolder();
  const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
  return { DATA_DIR, DATABASE_URL: await newPostgres(), ENCRYPTION_KEY };
}

/** A gateway at work. */
export async function startAt(place: Place, env: Record<string, string> = {}): Promise<TestApp> {
  const all = { ...ENV, ...place, ...env };
  const database = await openDatabase(readConfig(all), createLog('silent'));
  const app = await testApp({ env: all, database });
  await app.app.start();
  return { ...app, app: heldByTests(app.app) };
}

export interface Ended {
  code: number;
  output: string;
}

/** A command of `npm run`, to its end. */
export function runCommand(
  name: 'backup' | 'restore' | 'move',
  args: string[],
  env: Record<string, string>,
): Promise<Ended> {
  const file = join(ROOT, 'src', 'commands', `${name}.ts`);
  const options = { cwd: ROOT, env: { ...PROCESS_ENV, ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

/** What servers know of themselves alone. */
const OWN: Prisma.ModelName[] = ['ServerProcess', 'SandboxLease', 'CallerRate'];

/** All rows of all tables. */
export async function contentOf({ prisma }: Database): Promise<Record<string, string[]>> {
  const tables = Object.values(Prisma.ModelName).filter((name) => !OWN.includes(name));
  const content: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `select to_jsonb(t)::text as "row" from "${table}" t order by 1`,
    );
    content[table] = rows.map(({ row }) => row);
  }
  return content;
}

/** The same without a gateway at work on it; it may be changed first. */
export async function contentAt(
  place: Place,
  change: (database: Database) => Promise<void> = async () => {},
): Promise<Record<string, string[]>> {
  await using opened = await openDatabase(readConfig({ ...ENV, ...place }), createLog('silent'));
  const database = ofTests(opened);
  await change(database);
  return await contentOf(database);
}
