/** The position of a page of records at the provider. Cursors of record lists contain it. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { ProviderRecord } from '../../providers/moving-records.ts';
import type { Call } from '../call.ts';

const position = z.object({
  /** Identifies the account, the fields and the conditions of the read. The position is invalid for any other. */
  planKey: z.string(),
  /** The provider's cursor. Null for its first page. */
  cursor: z.string().nullable(),
  /** The number of records of that page that the caller has received, and the id of the last of them. */
  given: z.int().min(0),
  lastId: z.string().nullable(),
});
export type RecordPosition = z.output<typeof position>;

type Owner = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/**
 * Encrypts the position. Signing it, as for cursors of other lists, is not enough: a provider's cursor may be part of a
 * URL, and a forged one could read data outside the installation's objects.
 */
export function sealPosition(
  { vault }: Pick<Call, 'vault'>,
  owner: Owner,
  position: RecordPosition,
) {
  return vault.seal(JSON.stringify(position), sealContext(owner));
}

/** Decrypts a position. Null if the text is not a cursor of the installation's records. */
export function openPosition(
  { vault }: Pick<Call, 'vault'>,
  owner: Owner,
  text: string,
): RecordPosition | null {
  try {
    return position.parse(JSON.parse(vault.open(text, sealContext(owner))));
  } catch {
    return null;
  }
}

function sealContext({ id, projectId }: Owner) {
  return { table: 'Installation', column: 'records', row: id, projectId };
}

/** Counts the page's records before the position. The page may have changed since the caller received them. */
export function countReceived(
  records: readonly ProviderRecord[],
  { given, lastId }: Pick<RecordPosition, 'given' | 'lastId'>,
): number {
  const last = lastId === null ? -1 : records.findIndex(({ id }) => id === lastId);
  return last === -1 ? Math.min(given, records.length) : last + 1;
}
