/**
 * Writes refusals in REST's terms: its words in place of the names of enums, and its members in place of GraphQL's input.
 * Details of the domain use the names that it shares with GraphQL.
 */
import { z } from 'zod';
import { unwrapped } from '../../domain/unwrapped.ts';
import { SESSION_PERMISSIONS } from '../../domain/viewer/end-user.ts';
import { DomainError, type ErrorCode, type Issue, invalidInput } from '../../errors.ts';
import type { Endpoint } from './endpoint.ts';
import { wordOf } from './words.ts';

/** Details with these codes may quote a provider or be about no input: they stay as they are. */
const UNTRANSLATED: readonly ErrorCode[] = ['PROVIDER_ERROR', 'UNPROCESSABLE', 'INTERNAL_ERROR'];

/** Returns the error with details and values in REST's terms. The names of its issues must be places of the request. */
export function errorInRestTerms(endpoint: Endpoint, error: unknown): unknown {
  if (!(error instanceof DomainError) || UNTRANSLATED.includes(error.code)) return error;
  const { translate, words } = termsOf(endpoint);
  const issues = error.issues?.map((issue): Issue => {
    const translated = { ...issue, detail: translate(issue.detail) };
    // The value of an enum was read from its word.
    const word = isOfEnum(endpoint, issue) ? words.get(String(issue.value)) : undefined;
    return word === undefined ? translated : { ...translated, value: word };
  });
  if (issues && error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, translate(error.message), {
    ...error.extra,
    ...(issues && { issues }),
  });
}

interface Terms {
  /** REST's words by the names of the enums in the endpoint's input. */
  words: Map<string, string>;
  translate(detail: string): string;
}

const TERMS = new WeakMap<Endpoint, Terms>();

function termsOf(endpoint: Endpoint): Terms {
  let terms = TERMS.get(endpoint);
  if (!terms) {
    terms = createTerms(endpoint);
    TERMS.set(endpoint, terms);
  }
  return terms;
}

function createTerms({ input, places }: Endpoint): Terms {
  const permissions = Object.keys(SESSION_PERMISSIONS).map((name) => [
    name,
    wordOf(undefined, name),
  ]);
  const words = new Map([...permissions, ...wordsIn(input)] as [string, string][]);
  // Texts in double quotes are the caller's.
  const pattern = new RegExp(
    `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(\\w+)|\\b(${[...words.keys()].join('|')})\\b`,
    'g',
  );
  return {
    words,
    translate: (detail) =>
      detail.replace(pattern, (text, member?: string, name?: string) => {
        if (member !== undefined) return places.get(member)?.name ?? member;
        return (name !== undefined && words.get(name)) || text;
      }),
  };
}

/** The names of all enums in a schema, with their words. */
function* wordsIn(schema: z.ZodType): Generator<[name: string, word: string]> {
  const { inner } = unwrapped(schema);
  if (inner instanceof z.ZodEnum) {
    for (const name of inner.options as string[]) yield [name, wordOf(inner.meta()?.id, name)];
  }
  if (inner instanceof z.ZodArray) yield* wordsIn(inner.element as z.ZodType);
  if (inner instanceof z.ZodObject) {
    for (const member of Object.values<z.ZodType>(inner.shape)) yield* wordsIn(member);
  }
}

/** True if the place of an issue holds an enum. */
function isOfEnum({ input, places }: Endpoint, { name }: Issue): boolean {
  const [member, place] = [...places].find(([, { name: at }]) => isWithin(at, name)) ?? [];
  if (member === undefined || place === undefined) return false;
  const path = name
    .slice(place.name.length)
    .split(/[.[\]]+/)
    .filter(Boolean);
  let schema: z.ZodType | undefined = input.shape[member] as z.ZodType;
  for (const key of path) {
    const { inner }: { inner: z.ZodType } = unwrapped(schema as z.ZodType);
    if (inner instanceof z.ZodArray) schema = inner.element as z.ZodType;
    else if (inner instanceof z.ZodObject) schema = inner.shape[key] as z.ZodType | undefined;
    else return false;
    if (!schema) return false;
  }
  return unwrapped(schema).inner instanceof z.ZodEnum;
}

function isWithin(place: string, name: string): boolean {
  return name === place || name.startsWith(`${place}.`) || name.startsWith(`${place}[`);
}
