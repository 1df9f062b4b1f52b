/** Secrets that tests plant, and the search for them in texts and in the database. */
import { expect } from 'vitest';
import type { Database } from '../../../src/database/open/database.ts';
import { queryRows } from '../../support/database/query.ts';

/** Returns a unique secret with characters that other servers encode when they repeat it. */
export function createPlantedSecret(): string {
  return `planted/${crypto.randomUUID()}+"&?`;
}

/** Returns the secret as it is, escaped for JSON, percent-encoded, in hex, in base64 at any offset, and as a Basic pair. */
export function listForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString('hex'),
    ...listBase64Forms(secret),
    Buffer.from(`user:${secret}`).toString('base64'),
  ];
}

/** Returns the digits that depend on the secret alone, for each offset. */
function listBase64Forms(secret: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bytes = Buffer.from(' '.repeat(offset) + secret);
    // The first and last digits also contain bits of the neighboring bytes.
    return bytes.toString('base64url').slice(offset === 0 ? 0 : 4, -4);
  });
}

export function expectNoSecret(secrets: readonly string[], text: string): void {
  const urlSafeText = text.replaceAll('+', '-').replaceAll('/', '_');
  const leakedForms = secrets.flatMap(listForms).filter((form) => {
    const urlSafeForm = form.replaceAll('+', '-').replaceAll('/', '_');
    // A text of JSON holds a form with its escapes.
    return [form, urlSafeForm].some(
      (variant) =>
        urlSafeText.includes(variant) ||
        text.includes(variant) ||
        text.includes(JSON.stringify(variant).slice(1, -1)),
    );
  });
  expect(leakedForms).toEqual([]);
}

/** Returns every row of every table, as text. */
export async function dumpTables(database: Pick<Database, 'run'>): Promise<string> {
  const tables = await queryRows<{ name: string }>(
    database,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    [],
  );
  const texts = await Promise.all(
    tables.map(({ name }) =>
      queryRows<{ text: string }>(database, `select t::text as text from ${name} t`, []),
    ),
  );
  return texts.flatMap((table) => table.map(({ text }) => text)).join('\n');
}
