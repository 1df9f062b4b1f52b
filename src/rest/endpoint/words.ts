/** Maps the names of enum values to the words of the reference API. */
import type { z } from 'zod';
import { parseScopeName, type ScopeName } from '../../domain/access/viewer/scopes.ts';
import { findEnumeration } from '../../domain/base/resource.ts';
import { EVENTS } from '../../events/event-types.ts';

const AUTH_SCHEME_WORDS: Record<string, string> = {
  NONE: 'none',
  API_KEY: 'apiKey',
  BASIC: 'basic',
  OAUTH2_AUTHORIZATION_CODE: 'oauth2/authorizationCode',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'oauth2/authorizationCodePKCE',
  OAUTH2_CLIENT_CREDENTIALS: 'oauth2/clientCredentials',
  OAUTH2_PASSWORD: 'oauth2/password',
};

const OPERATION_STATUS_WORDS: Record<string, string> = { SUCCEEDED: 'success', FAILED: 'failure' };

/** Functions that convert the names of an enum to words. For all other enums, words are names in lower case. */
const WORDS: Record<string, (name: string) => string> = {
  AuthScheme: (name) => AUTH_SCHEME_WORDS[name] ?? name,
  ContractFieldType: toCamelCase,
  ContractFindingKind: toCamelCase,
  ContractVerb: toCamelCase,
  FieldCardinality: (name) => name.toLowerCase().replaceAll('_', '-'),
  FieldDeletionRule: toCamelCase,
  FieldValueType: toCamelCase,
  ItemKind: toCamelCase,
  NotificationEventType: (name) => EVENTS[name as keyof typeof EVENTS].wireName,
  OperationStatus: (name) => OPERATION_STATUS_WORDS[name] ?? name.toLowerCase(),
  ProviderAppField: toCamelCase,
  Scope: (name) => parseScopeName(name as ScopeName),
  WriteOccasion: toCamelCase,
};

/** Returns the name of the enum that a schema declares. */
export function findEnumName(schema: z.ZodType): string | undefined {
  return findEnumeration(schema)?.name ?? schema.meta()?.id;
}

/** Returns the word for a name. Returns a name that is not in upper case unchanged. */
export function toWord(enumName: string | undefined, name: string): string {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) return name;
  const convert = enumName === undefined ? undefined : WORDS[enumName];
  return convert ? convert(name) : name.toLowerCase();
}

export function toCamelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
