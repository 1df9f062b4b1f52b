/** Builds the conditions of a search in the vendor's syntax. */
import type { FieldValue, PageRead } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { EqualityFilter, ListDeclaration } from '../declaration/list-declaration.ts';
import { matchesName } from '../declaration/name-rule.ts';
import type { RequestLocation } from '../declaration/request-location.ts';
import { escapePart } from '../json.ts';
import { fillJson } from '../template.ts';

/** Returns the list that supports conditions. Undefined if the object has none. */
export function findSearchList({
  list,
  incrementalList,
}: Pick<ObjectDeclaration, 'list' | 'incrementalList'>): ListDeclaration | undefined {
  return list.equalityFilter ? list : incrementalList?.equalityFilter && incrementalList;
}

/**
 * Yields the location and value of each condition. Throws BAD_REQUEST that names each field that the vendor can't
 * compare.
 */
export function* listConditions(
  { equalityFilter }: ListDeclaration,
  { filters = [], objectName }: PageRead,
): Generator<[RequestLocation, unknown]> {
  if (filters.length === 0) return;
  if (!equalityFilter) throw createBadRequest(`${objectName} can't be searched by field value`);
  const invalidFilters = filters.filter(
    ({ fieldName }) => !matchesName(equalityFilter.names, fieldName),
  );
  if (invalidFilters.length > 0) {
    const names = invalidFilters.map(({ fieldName }) => JSON.stringify(fieldName)).join(', ');
    throw createBadRequest(`${objectName} can't be searched by ${names}: no field has such a name`);
  }
  for (const filter of filters)
    yield [toLocation(equalityFilter, filter), formatCondition(equalityFilter, filter)];
}

function toLocation(
  { in: part, name }: EqualityFilter,
  { fieldName }: FieldValue,
): RequestLocation {
  const field = part === 'body' ? escapePart(fieldName) : fieldName;
  return { in: part, name: name.replace('{field}', () => field) };
}

function formatCondition(
  { template, quoting }: EqualityFilter,
  { fieldName, value }: FieldValue,
): unknown {
  if (template === '{value}' && quoting === 'none') return value;
  if (typeof template !== 'string') return fillJson(template, { field: fieldName, value });
  const text = quoteValue(value, quoting);
  return template.replace(/\{(field|value)\}/g, (_match, name) =>
    name === 'field' ? fieldName : text,
  );
}

function quoteValue(value: FieldValue['value'], quoting: EqualityFilter['quoting']): string {
  switch (quoting) {
    case 'none':
      return String(value);
    case 'caret':
      return String(value).replaceAll('^', '^^');
    case 'odata':
      return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
    case 'formula':
      if (typeof value === 'boolean') return value ? 'TRUE()' : 'FALSE()';
      return typeof value === 'number'
        ? String(value)
        : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  }
}

function createBadRequest(message: string): ProviderError {
  return new ProviderError('BAD_REQUEST', message);
}
