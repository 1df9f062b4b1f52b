/** Validates names before they become part of a path or SOQL query, because neither has an escape syntax for them. */
import { ProviderError } from '../provider-error.ts';

/** Permitted API names. They may have a package prefix and a suffix such as `__c`. */
const API_NAME = /^[a-z][a-z0-9_]{0,79}$/i;
const RECORD_ID = /^[a-z0-9]{15}(?:[a-z0-9]{3})?$/i;
/** The maximum length of a field path: SOQL follows at most five relationships. */
const STEPS_MAX = 6;

export function checkObjectName(name: string): string {
  if (API_NAME.test(name)) return name;
  throw new ProviderError('MISSING_OBJECT', 'No Salesforce object can have that name');
}

/** Returns the id. Null if no Salesforce record can have this id. */
export function toRecordId(id: unknown): string | null {
  return typeof id === 'string' && RECORD_ID.test(id) ? id : null;
}

/**
 * Splits a field name into its path: `Name`, `Account.Name`, or `$['Account']['Name']`. Part of an address is a field
 * of the record itself: MailingAddress.Street is MailingStreet.
 */
export function parseFieldPath(fieldName: string): string[] {
  const steps = fieldName.startsWith('$')
    ? [...fieldName.matchAll(/\['([^']*)'\]/g)].map(([, step]) => step ?? '')
    : fieldName.split('.');
  const isWellFormed = steps.length <= STEPS_MAX && steps.every((step) => API_NAME.test(step));
  if (!isWellFormed || steps.length === 0 || !isComplete(fieldName, steps)) {
    throw new ProviderError('MISSING_FIELD', 'No Salesforce field can have such a name');
  }
  return flattenAddress(steps);
}

/** True if the path contains the whole name, so that no character was skipped. */
function isComplete(fieldName: string, steps: string[]): boolean {
  return (
    fieldName === steps.join('.') || fieldName === `$${steps.map((step) => `['${step}']`).join('')}`
  );
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

function flattenAddress(steps: string[]): string[] {
  const [compound = '', part = '', ...deeperSteps] = steps;
  const prefix = ADDRESS.exec(compound)?.[1];
  const isPart = ADDRESS_PARTS.has(part.toLowerCase()) && deeperSteps.length === 0;
  return prefix !== undefined && isPart ? [`${prefix}${part}`] : steps;
}
