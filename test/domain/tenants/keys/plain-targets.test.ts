/**
 * Seals the values of destinations that an older version stored in plain text, even if a process is killed while it
 * seals them.
 *
 * @module-tag all/process
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Database } from '../../../../src/database/open/database.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import {
  createEmptyDatabase,
  type DatabaseEnv,
  GATEWAY_ENV,
  openAndReadRows,
  readRows,
  startGateway,
} from '../../../support/copies/copied-databases.ts';
import { createClient } from '../../../support/graphql-client.ts';
import { PROCESS_ENV } from '../../../support/process/process-env.ts';

/** The number of rows exceeds a batch. Each row has two values. */
const DESTINATIONS = 600;
/** The process is killed after it has sealed this many values. */
const SEALED_VALUES = 1_101;
/** The test opens a database four times. */
const TIMEOUT = { timeout: 240_000 };

const createPlainUrl = (index: number) =>
  `https://hooks.example.test/?token=plain-${index}-in-the-query`;
const createPlainHeaders = (index: number) => ({ 'X-Key': `plain-${index}-in-a-header` });

const DESTINATION_VALUES = `query DestinationValues($id: ID!) {
  node(id: $id) { ... on Destination { url headers urlWithValues headerValues } }
}`;

async function storePlainDestinations({ prisma }: Database, projectId: string): Promise<string[]> {
  const rows = Array.from({ length: DESTINATIONS }, (_, index) => ({
    id: newId('dst'),
    projectId,
    name: `hook-${index}`,
    type: 'WEBHOOK' as const,
    url: createPlainUrl(index),
    maskedHeaders: createPlainHeaders(index),
    signingSecretSealed: '',
  }));
  await prisma.destination.createMany({ data: rows });
  return rows.map(({ id }) => id);
}

/** Runs a process that seals values until it is killed. Returns its exit code and signal. */
async function sealUntilKilled(databaseEnv: DatabaseEnv): Promise<unknown[]> {
  const file = join(
    import.meta.dirname,
    '..',
    '..',
    '..',
    'support',
    'process',
    'sealing-process.ts',
  );
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

function parseDestinations({ Destination = [] }: Record<string, string[]>) {
  return { text: Destination.join(), rows: Destination.map((row) => JSON.parse(row) as StoredRow) };
}

const listSealedValues = (rows: StoredRow[]) =>
  rows.flatMap(({ urlSealed, headersSealed }) => [urlSealed, headersSealed]).filter(Boolean);

test(
  'seals the values that a killed process left unsealed, and seals no value twice',
  TIMEOUT,
  async () => {
    const env = await createEmptyDatabase();
    const firstGateway = await startGateway(env);
    const { projectId, apiKey } = await firstGateway.createTenant();
    const ids = await storePlainDestinations(firstGateway.app.services.database, projectId);
    await firstGateway[Symbol.asyncDispose]();

    expect(await sealUntilKilled(env)).toEqual([null, 'SIGKILL']);
    const partlySealed = parseDestinations(await openAndReadRows(env));
    expect(listSealedValues(partlySealed.rows)).toHaveLength(SEALED_VALUES);
    expect(partlySealed.text).toContain(`plain-${DESTINATIONS - 1}-in-the-query`);

    const secondGateway = await startGateway(env);
    const client = createClient(secondGateway.fetch, { 'x-api-key': apiKey });
    for (const index of [0, 550, DESTINATIONS - 1]) {
      expect((await client.query(DESTINATION_VALUES, { id: ids[index] })).node).toEqual({
        url: 'https://hooks.example.test/?token=***',
        headers: { 'X-Key': '***' },
        urlWithValues: createPlainUrl(index),
        headerValues: createPlainHeaders(index),
      });
    }
    const { text, rows } = parseDestinations(await readRows(secondGateway.app.services.database));
    await secondGateway[Symbol.asyncDispose]();
    expect(text).not.toContain('plain-');
    expect(listSealedValues(rows)).toHaveLength(2 * DESTINATIONS);
    // Sealing a value twice results in different strings, so equal strings were sealed once.
    expect(listSealedValues(rows)).toEqual(
      expect.arrayContaining(listSealedValues(partlySealed.rows)),
    );
  },
);
