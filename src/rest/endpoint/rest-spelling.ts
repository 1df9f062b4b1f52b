/**
 * Spells problems as in REST: with the names that members have in requests, and with words in place of the names of enum
 * values.
 */
import { z } from 'zod';
import type { MemberLocation, Spelling } from '../../kernel/text.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import type { Endpoint, Parts } from './endpoint.ts';
import { getValue } from './mask.ts';
import { type Locations, locateMember } from './request-form.ts';
import { STORED_SPELLING } from './stored-spelling.ts';
import { findEnumName, toWord } from './words.ts';

/** Returns the spelling of problems with a request. `parts` have the form that `rewrite` returns. */
export function createSpelling(
  endpoint: Endpoint,
  { parts, locations }: { parts: Parts; locations: Locations },
): Spelling {
  const words = getWords(endpoint);
  return {
    showsParts: true,
    locate: (path, inputName) =>
      inputName === undefined
        ? locateMember(locations, path)
        : STORED_SPELLING.locate(path, inputName),
    toWord: (name, enumName) =>
      enumName === undefined ? (words.get(name) ?? name) : toWord(enumName, name),
    showValue(value, location) {
      const receivedValue = findReceivedValue(parts, location);
      // An object of the domain may have another form than the caller's.
      if (typeof value === 'object' && value !== null) return receivedValue ?? value;
      // The domain reports the name of an enum's value, and the caller has sent its word.
      const word = words.get(String(value));
      return word !== undefined && word === receivedValue ? word : value;
    },
  };
}

function findReceivedValue(parts: Parts, { in: part, name }: MemberLocation): unknown {
  return getValue(parts[part], name.split(/[.[\]]+/).filter(Boolean));
}

const WORDS = new WeakMap<Endpoint, ReadonlyMap<string, string>>();

/** Returns REST's words for the names of enum values in the endpoint's input. */
function getWords(endpoint: Endpoint): ReadonlyMap<string, string> {
  const words = WORDS.get(endpoint) ?? new Map(listWords(endpoint.input));
  WORDS.set(endpoint, words);
  return words;
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
