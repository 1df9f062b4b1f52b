/** Reads the other items of lists inside property values, which have an endpoint for each value. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderSession } from '../../contract.ts';
import type { ProviderRecord } from '../../moving-records.ts';
import { addListLength, checkCursor } from '../../page-guard.ts';
import { ProviderError } from '../../provider-error.ts';
import { CONVERSIONS } from '../conversions/value-conversions.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { CutLists, NestedFields } from '../declaration/object-declaration.ts';
import { findValue, type JsonObject, parseId, withValue } from '../json.ts';
import { ignoreMissing, sendRequest } from '../send-request.ts';
import { fillPath, type TemplateVariables } from '../template.ts';
import type { Vendor } from '../vendor.ts';
import { toRecord } from './row-record.ts';

interface RecordsRead {
  object: ObjectDeclaration;
  records: ProviderRecord[];
  variables: TemplateVariables;
}

/**
 * Returns the records with all items of their lists. Only lists of the records' fields are read. Throws RETRYABLE if a
 * record was deleted in the meantime.
 */
export async function readCutLists(
  vendor: Vendor,
  session: ProviderSession,
  { object, records, variables }: RecordsRead,
): Promise<ProviderRecord[]> {
  const declarations = object.nestedFields.filter(({ cutLists }) => cutLists !== undefined);
  if (declarations.length === 0) return records;
  const completeRecords: ProviderRecord[] = [];
  for (const record of records) {
    let { raw } = record;
    for (const declaration of declarations) {
      raw = await readCutValues(vendor, session, { declaration, record: { ...record, raw } });
    }
    const fields = Object.keys(record.fields);
    completeRecords.push(
      raw === record.raw
        ? record
        : { ...toRecord(object, raw, { fields, variables }), id: record.id },
    );
  }
  return completeRecords;
}

interface ValuesRead {
  declaration: NestedFields;
  record: ProviderRecord;
}

/** Returns the raw record, with all items of the lists that the record's fields contain. */
async function readCutValues(
  vendor: Vendor,
  session: ProviderSession,
  { declaration: { at, cutLists, conversion }, record }: ValuesRead,
): Promise<JsonObject> {
  const values = findValue(record.raw, at);
  if (!cutLists || !isObject(values)) return record.raw;
  const aliases = conversion ? CONVERSIONS[conversion].addAliases?.(values) : {};
  const namedValues = { ...aliases, ...values };
  const requestedValues = new Set(Object.keys(record.fields).map((name) => namedValues[name]));
  const completeValues: JsonObject = {};
  for (const [name, value] of Object.entries(values)) {
    const member = requestedValues.has(value) ? findCutMember(cutLists, value) : undefined;
    if (member === undefined || !isObject(value)) continue;
    const items = await readItems(vendor, session, { cutLists, record, value, member });
    completeValues[name] = withValue({ ...value, [member]: items }, cutLists.isCut, false);
  }
  return Object.keys(completeValues).length === 0
    ? record.raw
    : withValue(record.raw, at, { ...values, ...completeValues });
}

/** Returns the member of a value with a list that may be cut. */
function findCutMember({ members, itemsMax, isCut }: CutLists, value: unknown): string | undefined {
  const flag = findValue(value, isCut);
  if (!isObject(value) || flag === false) return undefined;
  return members.find((member) => {
    const list = value[member];
    return Array.isArray(list) && (flag === true || list.length >= itemsMax);
  });
}

interface ItemsRead {
  cutLists: CutLists;
  record: ProviderRecord;
  value: JsonObject;
  member: string;
}

async function readItems(
  vendor: Vendor,
  session: ProviderSession,
  { cutLists, record, value, member }: ItemsRead,
): Promise<unknown[]> {
  const variables = { id: record.id, value: decodeId(findValue(value, cutLists.valueId)) };
  const path = fillPath(cutLists.path, variables, session);
  const items: unknown[] = [];
  let length = 0;
  let cursor: string | null = null;
  let mark: string | null = null;
  let pagesRead = 0;
  do {
    const query = {
      ...cutLists.query,
      ...(cursor !== null && { [cutLists.cursorParameter]: cursor }),
    };
    const response = await ignoreMissing(
      sendRequest(vendor, session, { method: 'GET', path, query }),
    );
    const pageItems = findValue(response?.body, cutLists.items);
    if (!response || !Array.isArray(pageItems)) {
      throw new ProviderError('RETRYABLE', `The values of record ${record.id} can't be read`);
    }
    length = addListLength(length, pageItems);
    items.push(...pageItems.map((item) => findValue(item, `/${member}`)));
    cursor = parseId(findValue(response.body, cutLists.next));
    pagesRead += 1;
    if (cursor !== null) mark = checkCursor(cursor, { mark, pagesRead });
  } while (cursor !== null);
  return items;
}

/** Decodes an id, because some vendors return ids as they are in URLs. */
function decodeId(id: unknown): string {
  const text = parseId(id) ?? '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
