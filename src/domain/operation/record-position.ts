/** Where a page of records begins at the provider, as cursors tell it to callers. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { ProviderRecord } from '../../providers/moving-records.ts';
import type { Call } from '../call.ts';

const position = z.object({
  /** What is read: the position means nothing for another account, other fields or other conditions. */
  planKey: z.string(),
  /** The provider's cursor; null for its first page. */
  cursor: z.string().nullable(),
  /** Records of that page that were given already, and the last of them. */
  given: z.int().min(0),
  lastId: z.string().nullable(),
});
export type RecordPosition = z.output<typeof position>;

type Owner = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/**
 * Sealed, and not only checked like the cursors of other lists: a provider's cursor may be a part of its address,
 * and who could write one could read what the installation does not.
 */
export function sealPosition({ vault }: Pick<Call, 'vault'>, owner: Owner, at: RecordPosition) {
  return vault.seal(JSON.stringify(at), placeOf(owner));
}

/** Null if the text is no cursor of the installation's records. */
export function openPosition(
  { vault }: Pick<Call, 'vault'>,
  owner: Owner,
  text: string,
): RecordPosition | null {
  try {
    return position.parse(JSON.parse(vault.open(text, placeOf(owner))));
  } catch {
    return null;
  }
}

function placeOf({ id, projectId }: Owner) {
  return { table: 'Installation', column: 'records', row: id, projectId };
}

/** How many of the page's records come before the position: the page may have changed since. */
export function countGiven(
  records: readonly ProviderRecord[],
  { given, lastId }: Pick<RecordPosition, 'given' | 'lastId'>,
): number {
  const last = lastId === null ? -1 : records.findIndex(({ id }) => id === lastId);
  return last === -1 ? Math.min(given, records.length) : last + 1;
}
