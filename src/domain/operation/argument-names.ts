/** Errors of functions that typed APIs call, with the names of the arguments that the caller has sent. */
import type { z } from 'zod';
import { DomainError, type Issue, invalidInput } from '../../errors.ts';
import { toIssues } from '../issues.ts';

/** The names of arguments, by the names of members in the input of a function. */
export type ArgumentNames = (name: string) => string;

/** Validates the input of a function, and names the arguments that the caller has sent. Throws BAD_USER_INPUT. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  nameArgument: ArgumentNames,
): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidInput(renameIssues(toIssues(result.error, input), nameArgument));
}

/** Runs a function, and names the arguments that the caller has sent in its BAD_USER_INPUT errors. */
export async function withArgumentNames<T>(
  nameArgument: ArgumentNames,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'BAD_USER_INPUT') throw error;
    throw invalidInput(renameIssues(error.issues ?? [], nameArgument), error.extra);
  }
}

function renameIssues(issues: readonly Issue[], nameArgument: ArgumentNames): Issue[] {
  return issues.map((issue) => ({ ...issue, name: nameArgument(issue.name) }));
}
