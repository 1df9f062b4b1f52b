/** Translates names in issues, so that errors of typed APIs name the caller's arguments. */
import type { z } from 'zod';
import { DomainError, type Issue, invalidInput } from '../../../kernel/errors.ts';
import { parseBounded } from '../../../work/bounded-parse.ts';
import { toIssues } from '../../base/issues.ts';

/** Returns the name of the caller's argument for a member of a function's input. */
export type NameArgument = (name: string) => string;

/** Validates the input of a function. Throws BAD_USER_INPUT with the names of the caller's arguments. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  nameArgument: NameArgument,
): z.output<S> {
  const result = parseBounded(schema, input);
  if (result.success) return result.data;
  throw invalidInput(renameIssues(toIssues(result.error, input), nameArgument));
}

/** Lists the issues for which `parseInput` throws. */
export function listInputIssues(
  schema: z.ZodType,
  input: unknown,
  nameArgument: NameArgument,
): Issue[] {
  const { error } = parseBounded(schema, input);
  return error ? renameIssues(toIssues(error, input), nameArgument) : [];
}

/** Runs a function. Its BAD_USER_INPUT errors name the caller's arguments. */
export async function withArgumentNames<T>(
  nameArgument: NameArgument,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'BAD_USER_INPUT') throw error;
    throw invalidInput(renameIssues(error.issues ?? [], nameArgument), error.extra);
  }
}

function renameIssues(issues: readonly Issue[], nameArgument: NameArgument): Issue[] {
  return issues.map((issue) => ({ ...issue, name: nameArgument(issue.name) }));
}
