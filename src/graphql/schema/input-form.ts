/**
 * The form of a mutation's input in GraphQL. It has the domain's members, except that the members of an exclusive group are
 * in the member that holds their `@oneOf` input: `apiKey` of the domain is `credentials.apiKey`.
 */
import { z } from 'zod';
import {
  type ExclusiveMembers,
  findExclusiveMembers,
} from '../../domain/access/declared-mutation.ts';
import { moveSchemaIssue, toIssues } from '../../domain/base/issues.ts';
import { parseInSteps } from '../../domain/base/parse-in-steps.ts';
import { invalidInput } from '../../kernel/errors.ts';
import {
  DEFAULT_SPELLING,
  formatPath,
  type Path,
  type PathMove,
  type Spelling,
} from '../../kernel/text.ts';
import { parseBounded } from '../../work/bounded-parse.ts';
import type { Steps } from '../../work/steps.ts';

interface InputForm {
  /** Refuses what the domain's schema refuses, with paths in GraphQL's form. Does not change the value. */
  schema: z.ZodType;
  /** Returns the domain's input. Throws BAD_USER_INPUT with all issues. */
  decode(input: unknown): Steps<unknown>;
  /** Spells problems of the mutation. */
  spelling: Spelling;
}

/** The paths of members in the inputs of mutations, by the names of the inputs. */
const moves = new Map<string, PathMove>();

/**
 * Spells stored texts, which name the inputs of their members. Paths omit the argument `input`, because readers have not
 * called the mutation.
 */
export const STORED_SPELLING: Spelling = {
  ...DEFAULT_SPELLING,
  locate: (path, inputName = '') => DEFAULT_SPELLING.locate(moves.get(inputName)?.(path) ?? path),
};

export function createInputForm(input: z.ZodObject): InputForm {
  const exclusiveMembers = findExclusiveMembers(input);
  const flatten = (value: unknown) =>
    exclusiveMembers ? flattenMembers(value, exclusiveMembers) : value;
  const locate = (path: Path): Path =>
    exclusiveMembers?.members.includes(String(path[0])) ? [exclusiveMembers.name, ...path] : path;
  const { id: inputName } = input.meta() ?? {};
  if (inputName !== undefined) moves.set(inputName, locate);
  const spelling: Spelling = {
    ...DEFAULT_SPELLING,
    showsParts: true,
    locate: (path, otherInput) =>
      otherInput === undefined
        ? { in: 'body', name: formatPath(['input', ...locate(path)]) }
        : STORED_SPELLING.locate(path, otherInput),
  };
  return {
    schema: z.unknown().superRefine((value, context) => {
      const { error } = parseBounded(input, flatten(value));
      for (const issue of error?.issues ?? []) {
        context.issues.push(moveSchemaIssue(issue, locate) as z.core.$ZodRawIssue);
      }
    }),
    *decode(value) {
      const domainInput = flatten(value);
      const { data, error } = yield* parseInSteps(input, domainInput);
      if (error) throw invalidInput(toIssues(error, domainInput, input)).spell(spelling);
      return data;
    },
    spelling,
  };
}

/** Replaces the object of exclusive members with its member: `records: { record }` becomes `record`. */
function flattenMembers(input: unknown, { name }: ExclusiveMembers): unknown {
  const { [name]: member, ...otherMembers } = input as Record<string, unknown>;
  return { ...otherMembers, ...(member as object | null | undefined) };
}
