/** Validates inputs with their schemas, and runs functions on inputs that are part of another function's input. */
import type { z } from 'zod';
import { DomainError, type Issue, invalidInput } from '../../kernel/errors.ts';
import type { PathMove } from '../../kernel/text.ts';
import { parseBounded } from '../../work/bounded-parse.ts';
import { toIssues } from './issues.ts';

/** Returns the schema's output. Throws BAD_USER_INPUT with all issues. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const { data, error } = parseBounded(schema, input);
  if (error) throw invalidInput(toIssues(error, input, schema));
  return data as z.output<S>;
}

/** Lists the issues for which `parseInput` throws. */
export function listSchemaIssues(schema: z.ZodType, input: unknown): Issue[] {
  const { error } = parseBounded(schema, input);
  return error ? toIssues(error, input, schema) : [];
}

/** Runs a function. Its BAD_USER_INPUT errors have the paths that `movePath` returns for paths of the function's input. */
export async function withMovedPaths<T>(
  movePath: PathMove,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'BAD_USER_INPUT') throw error;
    throw error.move(movePath);
  }
}
