/**
 * Translates errors into REST's terms. The domain writes details in the terms of GraphQL, with members like
 * `input.eventType` and names of enums. In REST, members have other names, and words replace the names of enums.
 */
import { z } from 'zod';
import { SCOPE_BY_PERMISSION } from '../../domain/access/viewer/end-user.ts';
import { unwrapSchema } from '../../domain/base/unwrap-schema.ts';
import { DomainError, type ErrorCode, type Issue, invalidInput } from '../../kernel/errors.ts';
import type { Endpoint, Parts } from './endpoint.ts';
import type { Locations } from './locations.ts';
import { getValue } from './mask.ts';
import { findEnumName, toWord } from './words.ts';

/** Details of these errors are not translated, because they quote a provider or concern no input. */
const UNTRANSLATED_CODES: readonly ErrorCode[] = ['PROVIDER_ERROR', 'INTERNAL_ERROR'];

/**
 * Returns the error with details and values in REST's terms. The names of its issues must be locations in `parts`,
 * which have the form that `rewrite` returns.
 */
export function translateError(endpoint: Endpoint, parts: Parts, error: unknown): unknown {
  if (!(error instanceof DomainError) || UNTRANSLATED_CODES.includes(error.code)) return error;
  // Without issues, the detail may quote a provider.
  if (error.code === 'UNPROCESSABLE' && !error.issues) return error;
  const { words, ...terms } = getTerms(endpoint);
  const translate = error.code === 'FORBIDDEN' ? terms.translateNeeds : terms.translate;
  const issues = error.issues?.map((issue): Issue => {
    const word = words.get(String(issue.value));
    // The domain reports the name of an enum value, and the caller has sent its word.
    const isDecoded = word !== undefined && word === findReceivedValue(parts, issue);
    return { ...issue, detail: translate(issue.detail), ...(isDecoded && { value: word }) };
  });
  if (issues && error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, translate(error.message), {
    ...error.extra,
    ...(issues && { issues }),
  });
}

function findReceivedValue(parts: Parts, { in: part, name }: Issue): unknown {
  return getValue(parts[part], name.split(/[.[\]]+/).filter(Boolean));
}

interface Terms {
  /** REST's words for the enum names in the endpoint's input. */
  words: Map<string, string>;
  translate(detail: string): string;
  /** Also translates permissions of end users. In other details, these names are capabilities of providers. */
  translateNeeds(detail: string): string;
}

const TERMS = new WeakMap<Endpoint, Terms>();

function getTerms(endpoint: Endpoint): Terms {
  const terms = TERMS.get(endpoint) ?? createTerms(endpoint);
  TERMS.set(endpoint, terms);
  return terms;
}

function createTerms({ input, locations }: Endpoint): Terms {
  const words = new Map(listWords(input));
  const permissions = Object.keys(SCOPE_BY_PERMISSION).map(
    (name) => [name, toWord(undefined, name)] as const,
  );
  return {
    words,
    translate: createTranslation(locations, words),
    translateNeeds: createTranslation(locations, new Map([...permissions, ...words])),
  };
}

function createTranslation(locations: Locations, words: ReadonlyMap<string, string>) {
  const names = words.size > 0 ? `|\\b(${[...words.keys()].join('|')})\\b` : '';
  // A string in double quotes is a value of the caller, and stays unchanged.
  const pattern = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(\\w+)${names}`, 'g');
  return (detail: string) =>
    detail.replace(pattern, (match, member?: string, name?: unknown) => {
      if (member !== undefined) return locations.get(member)?.name ?? member;
      return (typeof name === 'string' && words.get(name)) || match;
    });
}

/** Yields the names of all enums in a schema, with their words. */
function* listWords(schema: z.ZodType): Generator<[name: string, word: string]> {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodEnum) {
    for (const name of inner.options as string[]) yield [name, toWord(findEnumName(inner), name)];
  }
  if (inner instanceof z.ZodArray) yield* listWords(inner.element as z.ZodType);
  if (inner instanceof z.ZodObject) {
    for (const member of Object.values<z.ZodType>(inner.shape)) yield* listWords(member);
  }
}
