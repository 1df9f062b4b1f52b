/** The position of a page of records at the provider. Cursors of record lists contain it. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { ProviderRecord } from '../../providers/moving-records.ts';
import type { SealedLocation } from '../../secrets.ts';
import type { Call } from '../call.ts';

const position = z.object({
  /** Identifies the account, the fields and the conditions of the read. The position is invalid for other reads. */
  planKey: z.string(),
  /** The provider's cursor of a page. Null for its first page. */
  cursor: z.string().nullable(),
  /** The number of records of that page that the caller has received. */
  given: z.int().min(0),
  /** The id of the last record that the caller has received. Null if there is none. */
  lastId: z.string().nullable(),
});
export type RecordPosition = z.output<typeof position>;

type InstallationKey = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/**
 * Encrypts the position. A signature, as in cursors of other lists, would not be enough, because a provider's cursor may
 * be part of a URL, which the caller must neither see nor choose.
 */
export function sealPosition(
  { vault }: Pick<Call, 'vault'>,
  installation: InstallationKey,
  position: RecordPosition,
): string {
  return vault.seal(JSON.stringify(position), getSealedLocation(installation));
}

/** Decrypts a position. Null if the text is not a cursor of the installation's records. */
export function openPosition(
  { vault }: Pick<Call, 'vault'>,
  installation: InstallationKey,
  text: string,
): RecordPosition | null {
  try {
    return position.parse(JSON.parse(vault.open(text, getSealedLocation(installation))));
  } catch {
    return null;
  }
}

function getSealedLocation({ id, projectId }: InstallationKey): SealedLocation {
  return { table: 'Installation', column: 'records', row: id, projectId };
}

/** Counts the records of a page that the caller has received. The page may have changed since then. */
export function countReceived(
  records: readonly ProviderRecord[],
  { given, lastId }: Pick<RecordPosition, 'given' | 'lastId'>,
): number {
  const lastIndex = lastId === null ? -1 : records.findIndex(({ id }) => id === lastId);
  return lastIndex === -1 ? Math.min(given, records.length) : lastIndex + 1;
}
