/** Fields that are written only into records that have no value for them: the records are read first. */
import type { Capabilities, ProviderSession } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { hasValue } from './field-settings.ts';
import type { ClaimedTask, WriteEntry } from './task.ts';

interface Source {
  session: ProviderSession;
  readRecords: Capabilities['readRecords'];
  task: ClaimedTask;
}

/** The entries as they are to be sent. Throws ProviderError if the records can't be read. */
export async function withoutFilled(
  entries: readonly WriteEntry[],
  { session, readRecords, task: { objectName } }: Source,
): Promise<readonly WriteEntry[]> {
  const careful = entries.filter(({ ifEmpty }) => ifEmpty !== null && ifEmpty.length > 0);
  if (careful.length === 0) return entries;
  if (!readRecords) {
    throw new ProviderError(
      'BAD_REQUEST',
      'The provider does not read records by their ids any more.',
    );
  }
  const fields = [...new Set(careful.flatMap(({ ifEmpty }) => ifEmpty ?? []))];
  const ids = [...new Set(careful.map(({ record }) => String(record.id)))];
  const present = await readRecords(session, { objectName, fields, ids });
  const byId = new Map(present.map((record) => [record.id, record]));
  return entries.map((entry) => {
    const { ifEmpty, record } = entry;
    const filled = (ifEmpty ?? []).filter((name) =>
      hasValue(byId.get(String(record.id))?.fields[name]),
    );
    if (filled.length === 0) return entry;
    const left = Object.entries(record).filter(([name]) => !filled.includes(name));
    return { ...entry, record: Object.fromEntries(left) };
  });
}
