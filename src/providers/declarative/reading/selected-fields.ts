/** Selects the fields of records, in as many requests as the vendor's limits require. */
import type { Behavior } from '../../behavior.ts';
import type { SelectedFields } from '../declaration/list-declaration.ts';
import { matchesName } from '../declaration/name-rule.ts';
import { type RequestDraft, setParameter } from './request-draft.ts';

/** The template of a plain list of names. Other templates are GraphQL. */
const NAMES_ONLY = '{fields}';
/** Names that are safe inside a GraphQL selection: they can't end it or start another. */
const GRAPHQL_NAME = /^[A-Za-z_]\w*$/;

/** Servers refuse longer URLs unless their vendor documents another limit. */
const CAUTIOUS_URL_BYTES_MAX = 8_000;
/** The part of a URL for the path, the position and the conditions. */
const OTHER_URL_BYTES = 2_000;

type RequestLimits = Pick<Behavior, 'fieldsMax' | 'urlBytesMax'>;

/** The names that a request selects. Null for a request without names, to which the vendor returns all fields. */
export type FieldBatch = readonly string[] | null;

/** Returns the names that the vendor can select, in one batch for each request. There is at least one batch. */
export function batchFields(
  selectedFields: SelectedFields | undefined,
  { fieldsMax, urlBytesMax }: RequestLimits,
  fieldNames: readonly string[],
): [FieldBatch, ...FieldBatch[]] {
  if (!selectedFields) return [null];
  const { always } = selectedFields;
  const names = [
    ...new Set(fieldNames.map((name) => getSelectedName(selectedFields, name))),
  ].filter((name) => !always.includes(name) && canSelect(selectedFields, name));
  const alwaysBytes = sum(always.map(getEncodedBytes));
  const [firstBatch = [], ...otherBatches] = splitItems(names, {
    countMax: typeof fieldsMax === 'number' ? fieldsMax - always.length : Infinity,
    bytesMax:
      selectedFields.in === 'query' ? getParameterBytesMax(urlBytesMax) - alwaysBytes : Infinity,
  });
  const isTooLong = otherBatches.length > 0;
  // Such a response has the record's own fields, but no fields of related records.
  const hasRelatedFields = names.some((name) => name.includes('.'));
  return isTooLong && selectedFields.returnsAllByDefault && !hasRelatedFields
    ? [null]
    : [firstBatch, ...otherBatches];
}

/** Returns the maximum length of a long parameter in a URL. */
export function getParameterBytesMax(urlBytesMax: RequestLimits['urlBytesMax']): number {
  if (urlBytesMax === 'none') return Infinity;
  const bytesMax = urlBytesMax === 'notDocumented' ? CAUTIOUS_URL_BYTES_MAX : urlBytesMax;
  return bytesMax - OTHER_URL_BYTES;
}

/** Splits items into consecutive batches of at most `countMax` items and `bytesMax` bytes. No batch is empty. */
export function splitItems(
  items: readonly string[],
  { countMax, bytesMax }: { countMax: number; bytesMax: number },
): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = getEncodedBytes(item);
    const batch = batches.at(-1);
    const isFull = batch && (batch.length >= countMax || bytes + size > bytesMax);
    if (!batch || isFull) batches.push([item]);
    else batch.push(item);
    bytes = !batch || isFull ? size : bytes + size;
  }
  return batches;
}

/** The length of the names of a batch in a URL. 0 if they are not in the URL. */
export function countUrlBytes(
  selectedFields: SelectedFields | undefined,
  batch: FieldBatch,
): number {
  if (selectedFields?.in !== 'query' || batch === null) return 0;
  return sum([...selectedFields.always, ...batch].map(getEncodedBytes));
}

/** The length of an item in a URL, with an encoded separator. */
function getEncodedBytes(item: string): number {
  return encodeURIComponent(item).length + 3;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** True if a request can select the field. `id` is the gateway's name for the record's identifier. */
function canSelect({ template }: SelectedFields, name: string): boolean {
  return name !== 'id' && (template === NAMES_ONLY || GRAPHQL_NAME.test(name));
}

/** Returns the name by which the vendor selects a field: its own, or that of its container. */
function getSelectedName({ container }: SelectedFields, name: string): string {
  return container && matchesName(container.names, name) ? container.name : name;
}

/** Returns the names whose values a response contains. */
export function listReturnedNames(
  selectedFields: SelectedFields | undefined,
  fieldNames: readonly string[],
  batch: FieldBatch,
): readonly string[] {
  if (!selectedFields || batch === null) return fieldNames;
  const returnedNames = new Set([...selectedFields.always, ...batch, 'id']);
  return fieldNames.filter((name) => returnedNames.has(getSelectedName(selectedFields, name)));
}

/** Adds the names of the batch to the request. */
export function selectFields(
  request: RequestDraft,
  selectedFields: SelectedFields | undefined,
  batch: FieldBatch,
): void {
  if (!selectedFields || batch === null) return;
  setParameter(request, selectedFields, formatNames(selectedFields, batch));
}

function formatNames(
  { always, separator, template, isList }: SelectedFields,
  batch: readonly string[],
): string | string[] {
  const names = [...always, ...batch];
  return isList ? names : template.replace('{fields}', names.join(separator));
}
