/** Maps enum names of the domain to the words of the reference API. */
import { z } from 'zod';
import { findEnumeration } from '../../domain/resource.ts';
import { type ScopeName, scopeOfName } from '../../domain/viewer/scopes.ts';
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
  ContractFieldType: camelCase,
  ContractFindingKind: camelCase,
  ContractVerb: camelCase,
  FieldCardinality: (name) => name.toLowerCase().replaceAll('_', '-'),
  FieldDeletionRule: camelCase,
  FieldValueType: camelCase,
  ItemKind: camelCase,
  NotificationEventType: (name) => EVENTS[name as keyof typeof EVENTS].wireName,
  OperationStatus: (name) => OPERATION_STATUS_WORDS[name] ?? name.toLowerCase(),
  ProviderAppField: camelCase,
  Scope: (name) => scopeOfName(name as ScopeName),
  WriteOccasion: camelCase,
};

/** Returns the name of the enum that a schema declares. */
export function findEnumName(schema: z.ZodType): string | undefined {
  return findEnumeration(schema)?.name ?? schema.meta()?.id;
}

/** Returns the word of an enum name. Names that are not in capitals are words already. */
export function toWord(enumId: string | undefined, name: string): string {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) return name;
  const write = (enumId !== undefined && WORDS[enumId]) || ((text: string) => text.toLowerCase());
  return write(name);
}

/** Returns the schema of an enum's words in responses. */
export function createWords(enumId: string | undefined, names: readonly string[]) {
  return z.enum(names.map((name) => toWord(enumId, name)));
}

export const eventTypeWords = createWords('NotificationEventType', Object.keys(EVENTS));

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
