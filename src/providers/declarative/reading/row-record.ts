/** Creates records from the rows of a response. */
import type { ProviderRecord } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { SelectedFields } from '../declaration/list-declaration.ts';
import { findValue } from '../json.ts';
import { flattenFields } from '../nested-fields.ts';
import { findRecordId } from '../record-id.ts';
import type { TemplateVariables } from '../template.ts';
import { parseTime } from '../times.ts';

interface RecordContext {
  /** The names of the fields. */
  fields: readonly string[];
  variables: TemplateVariables;
  selectedFields?: SelectedFields | undefined;
}

/**
 * Creates a record with the given fields. A field that the vendor omits has no value, so it is null, unless the vendor
 * returns empty fields too.
 */
export function toRecord(
  { id, nestedFields }: ObjectDeclaration,
  raw: Record<string, unknown>,
  { fields: names, variables, selectedFields }: RecordContext,
): ProviderRecord {
  const recordId = findRecordId(id, raw);
  if (recordId === null) throw new ProviderError('RETRYABLE', 'A record of the list has no id');
  const maps = [
    raw,
    ...nestedFields.map((declaration) => flattenFields(declaration, raw)),
    variables,
  ];
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    const source = maps.find((map) => Object.hasOwn(map, name));
    if (!source && name !== 'id' && selectedFields?.returnsEmptyFields) continue;
    fields[name] = (name === 'id' ? recordId : source?.[name]) ?? null;
  }
  return { id: recordId, fields, raw };
}

/** Returns the record's time of change. Null if the record has none. */
export function readChangeTime(
  { changedAt }: ObjectDeclaration,
  raw: Record<string, unknown>,
): Date | null {
  return changedAt ? parseTime(findValue(raw, changedAt.at), changedAt.format) : null;
}
