/** Reads values that a vendor's list omits, because they are costly. */
import type { ProviderSession } from '../../contract.ts';
import type { PageRead, ProviderRecord } from '../../moving-records.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import { omitsValues } from '../nested-fields.ts';
import type { Vendor } from '../vendor.ts';
import { readRecords } from './records-by-ids.ts';

/**
 * Replaces the records whose list omits requested values by the records that the vendor returns by id. A record
 * that it does not return stays as it is in the list.
 */
export async function readOmittedValues(
  vendor: Vendor,
  session: ProviderSession,
  {
    object: { nestedFields },
    read: { objectName, fields },
    records,
  }: { object: ObjectDeclaration; read: PageRead; records: ProviderRecord[] },
): Promise<ProviderRecord[]> {
  const ids = records
    .filter(({ raw }) => nestedFields.some((nested) => omitsValues(nested, raw, fields)))
    .map(({ id }) => id);
  if (ids.length === 0) return records;
  const completeRecords = await readRecords(vendor, session, {
    ...{ objectName, fields, ids },
    omitsReplaced: true,
  });
  const recordsById = new Map(completeRecords.map((record) => [record.id, record]));
  return records.flatMap((record) =>
    ids.includes(record.id) ? (recordsById.get(record.id) ?? record) : record,
  );
}
