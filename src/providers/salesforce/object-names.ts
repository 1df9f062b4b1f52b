/** Names from outside, before they become part of a path or of SOQL: neither can be escaped there. */
import { ProviderError } from '../provider-error.ts';

/** API names, with a package's prefix and a suffix such as `__c`. */
const API_NAME = /^[a-z][a-z0-9_]{0,79}$/i;
const RECORD_ID = /^[a-z0-9]{15}(?:[a-z0-9]{3})?$/i;
/** A parent's field is named by a path: SOQL follows five relationships at most. */
const STEPS_MAX = 6;

export function objectApiName(name: string): string {
  if (API_NAME.test(name)) return name;
  throw new ProviderError('MISSING_OBJECT', 'No Salesforce object can have that name');
}

/** Null if no record can have that id. */
export function findRecordId(id: unknown): string | null {
  return typeof id === 'string' && RECORD_ID.test(id) ? id : null;
}

/**
 * The steps to a field's value: `Name`, `Account.Name`, or the same as `$['Account']['Name']`.
 * A part of an address is a field of the record itself: MailingAddress.Street is MailingStreet.
 */
export function fieldPath(fieldName: string): string[] {
  const steps = fieldName.startsWith('$')
    ? [...fieldName.matchAll(/\['([^']*)'\]/g)].map(([, step]) => step ?? '')
    : fieldName.split('.');
  const wellFormed = steps.length <= STEPS_MAX && steps.every((step) => API_NAME.test(step));
  if (!wellFormed || steps.length === 0 || !isWritten(fieldName, steps)) {
    throw new ProviderError('MISSING_FIELD', 'No Salesforce field can have such a name');
  }
  return flattened(steps);
}

/** Nothing of the name was lost on the way to its steps. */
function isWritten(fieldName: string, steps: string[]): boolean {
  return fieldName === steps.join('.') || fieldName === `$${steps.map((s) => `['${s}']`).join('')}`;
}

const ADDRESS = /^([a-z]*)address$/i;
const ADDRESS_PARTS = new Set([
  'street',
  'city',
  'state',
  'statecode',
  'postalcode',
  'country',
  'countrycode',
  'latitude',
  'longitude',
  'geocodeaccuracy',
]);

function flattened(steps: string[]): string[] {
  const [compound = '', part = '', ...deeper] = steps;
  const prefix = ADDRESS.exec(compound)?.[1];
  const isPart = ADDRESS_PARTS.has(part.toLowerCase()) && deeper.length === 0;
  return prefix !== undefined && isPart ? [`${prefix}${part}`] : steps;
}
