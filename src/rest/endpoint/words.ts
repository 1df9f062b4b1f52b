/** Maps enum names of the domain to the words of the reference API. */
import { z } from 'zod';
import { findEnumeration } from '../../domain/resource.ts';
import { parseScopeName, type ScopeName } from '../../domain/viewer/scopes.ts';
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

/** The reference API's words. */
const OPERATION_STATUS_WORDS: Record<string, string> = { SUCCEEDED: 'success', FAILED: 'failure' };

/** The enums, by schema id, whose words are more than the name in lower case. */
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

/** Returns the word of an enum name. Names that are not in capitals are words already. */
export function toWord(enumId: string | undefined, name: string): string {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) return name;
  const convert = enumId === undefined ? undefined : WORDS[enumId];
  return convert ? convert(name) : name.toLowerCase();
}

/** Returns the schema of an enum's words in responses. */
export function createWords(enumId: string | undefined, names: readonly string[]) {
  return z.enum(names.map((name) => toWord(enumId, name)));
}

export const eventTypeWords = createWords('NotificationEventType', Object.keys(EVENTS));

function toCamelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
