/** Reads current records of an account by their ids. The records are neither stored nor delivered. */
import { invalid, unprocessable } from '../../../kernel/errors.ts';
import type { Capabilities } from '../../../providers/contract.ts';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import { canReadByIds } from '../../../providers/object-support.ts';
import { requireShallow } from '../../../providers/read-responses.ts';
import type { Call } from '../../access/call.ts';
import { PAGE_MAX } from '../../access/paging/page.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import type { ReadPlan } from './read/read-plan.ts';
import type { InstallationContent, ReadSource } from './read/read-source.ts';
import { callProvider, getRecordSource } from './record-source.ts';

/** The maximum number of ids in one call. */
const IDS_MAX = PAGE_MAX;

interface RecordRequest {
  objectName: string;
  ids: readonly string[];
  /** Fields to read in addition to the installation's fields, by the provider's names. Default: none. */
  otherFields?: readonly string[];
}

/**
 * Reads the record of each id, in order, with the provider's field names, and returns the read plan that maps them. A record
 * is null if it does not exist or does not meet the config's conditions. Throws the errors of `listRecords`. The viewer
 * must be authorized to read the installation.
 */
export async function readRecordsById(
  call: Call,
  installationContent: InstallationContent,
  { objectName, ids, otherFields = [] }: RecordRequest,
): Promise<{ readPlan: ReadPlan; records: (ProviderRecord | null)[] }> {
  if (ids.length > IDS_MAX) throw invalid(['ids'], `must contain at most ${IDS_MAX} ids.`);
  const source = await getRecordSource(call, installationContent, objectName);
  const { readPlan, provider } = source;
  const readRecords = provider.capabilities.readRecords;
  if (!readRecords || !canReadByIds(provider, readPlan.objectName)) {
    const detail = `${provider.displayName} does not support reading ${readPlan.objectName} by id: its records can only be listed.`;
    throw unprocessable(detail);
  }
  const existingRecords = await callProvider(call, source, () =>
    readInBatches(call, source, { readRecords, ids: [...new Set(ids)], otherFields }),
  );
  const recordsById = new Map(existingRecords.map((record) => [record.id, record]));
  const records = ids.map((id) => {
    const record = recordsById.get(id);
    return record && meetsFilters(record, readPlan) ? record : null;
  });
  return { readPlan, records };
}

interface BatchRequest {
  readRecords: NonNullable<Capabilities['readRecords']>;
  ids: readonly string[];
  otherFields: readonly string[];
}

async function readInBatches(
  call: Call,
  { readPlan, connection, provider }: ReadSource,
  { readRecords, ids, otherFields }: BatchRequest,
): Promise<ProviderRecord[]> {
  const session = openProviderSession(call, connection, provider);
  const filteredFields = readPlan.filters.map((filter) => filter.fieldName);
  const fields = [...new Set([...readPlan.fields, ...filteredFields, ...otherFields])];
  const { batchSize } = provider.limits;
  const records: ProviderRecord[] = [];
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize);
    const input = { objectName: readPlan.objectName, fields, ids: batch };
    records.push(...requireShallow(await readRecords(session, input)));
  }
  return records;
}

function meetsFilters({ fields }: ProviderRecord, { filters }: ReadPlan): boolean {
  return filters.every((filter) => String(fields[filter.fieldName]) === String(filter.value));
}
