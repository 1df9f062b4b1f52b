/**
 * Seals destinations that a version without sealed values has stored, also after a process was killed while
 * sealing.
 *
 * @module-tag all/process
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { newId } from '../../../src/ids.ts';
import {
  createEmptyDatabase,
  type DatabaseEnv,
  GATEWAY_ENV,
  openAndReadRows,
  startGateway,
} from '../../support/copies/copied-databases.ts';
import { createClient } from '../../support/graphql-client.ts';
import { PROCESS_ENV } from '../../support/process/process-env.ts';

/** Exceeds one batch of rows, with two values each. */
const DESTINATIONS = 600;
const SEALED_VALUES = 1_101;
/** The test opens a database five times. */
const TIMEOUT = { timeout: 240_000 };

const createPlainUrl = (index: number) =>
  `https://hooks.example.test/?token=plain-${index}-in-the-query`;
const createPlainHeaders = (index: number) => ({ 'X-Key': `plain-${index}-in-a-header` });

const VALUES = `query DestinationValues($id: ID!) {
  node(id: $id) { ... on Destination { url headers urlWithValues headerValues } }
}`;

async function storePlain({ prisma }: Database, projectId: string): Promise<string[]> {
  const rows = Array.from({ length: DESTINATIONS }, (_, index) => ({
    ...{ id: newId('dst'), projectId, name: `hook-${index}`, type: 'WEBHOOK' as const },
    ...{
      url: createPlainUrl(index),
      maskedHeaders: createPlainHeaders(index),
      signingSecretSealed: '',
    },
  }));
  await prisma.destination.createMany({ data: rows });
  return rows.map(({ id }) => id);
}

/** Returns the exit code and the signal of the process that seals. */
async function sealUntilKilled(databaseEnv: DatabaseEnv): Promise<unknown[]> {
  const file = join(import.meta.dirname, '..', '..', 'support', 'process', 'sealing-process.ts');
  const env = {
    ...PROCESS_ENV,
    ...GATEWAY_ENV,
    ...databaseEnv,
    SEALED_VALUES: String(SEALED_VALUES),
  };
  return once(spawn(process.execPath, [file], { env, stdio: 'inherit' }), 'exit');
}

interface StoredRow {
  id: string;
  urlSealed: string | null;
  headersSealed: string | null;
}

async function readStored(env: DatabaseEnv): Promise<{ text: string; rows: StoredRow[] }> {
  const { Destination = [] } = await openAndReadRows(env);
  return { text: Destination.join(), rows: Destination.map((row) => JSON.parse(row) as StoredRow) };
}

const listSealed = (rows: StoredRow[]) =>
  rows.flatMap(({ urlSealed, headersSealed }) => [urlSealed, headersSealed]).filter(Boolean);

test(
  'seals the values that a killed process left unsealed, and seals no value twice',
  TIMEOUT,
  async () => {
    const env = await createEmptyDatabase();
    const first = await startGateway(env);
    const { projectId, apiKey } = await first.tenant();
    const ids = await storePlain(first.app.services.database, projectId);
    await first[Symbol.asyncDispose]();

    expect(await sealUntilKilled(env)).toEqual([null, 'SIGKILL']);
    const killed = await readStored(env);
    expect(listSealed(killed.rows)).toHaveLength(SEALED_VALUES);
    expect(killed.text).toContain(`plain-${DESTINATIONS - 1}-in-the-query`);

    const second = await startGateway(env);
    const client = createClient(second.fetch, { 'x-api-key': apiKey });
    for (const index of [0, 550, DESTINATIONS - 1]) {
      expect((await client.query(VALUES, { id: ids[index] })).node).toEqual({
        url: 'https://hooks.example.test/?token=***',
        headers: { 'X-Key': '***' },
        urlWithValues: createPlainUrl(index),
        headerValues: createPlainHeaders(index),
      });
    }
    await second[Symbol.asyncDispose]();
    const { text, rows } = await readStored(env);
    expect(text).not.toContain('plain-');
    expect(listSealed(rows)).toHaveLength(2 * DESTINATIONS);
    // Sealing a value twice gives different texts, so the texts of the killed process are unchanged.
    expect(listSealed(rows)).toEqual(expect.arrayContaining(listSealed(killed.rows)));
  },
);
