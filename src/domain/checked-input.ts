/** Inputs whose findings are told at once, whether the input alone or the database tells them. */
import type { z } from 'zod';
import type { Row } from '../database/rows.ts';
import { type Issue, invalidInput, notFound } from '../errors.ts';
import type { Call } from './call.ts';
import { inputIssues } from './issues.ts';
import { findProject } from './scope.ts';
import type { Scope } from './viewer/scopes.ts';
import { authorize } from './viewer/viewer.ts';

/**
 * The project that an input names, and what the schema finds in the input: for the caller to throw with
 * its own findings. Throws the schema's where there is no such project.
 */
export async function openInput<S extends z.ZodType<unknown, { projectIdOrName: string }>>(
  call: Call,
  { schema, input, needed }: { schema: S; input: z.input<S>; needed: Scope },
): Promise<{ project: Row<'Project'>; issues: Issue[] }> {
  authorize(call.viewer, needed);
  const { error } = schema.safeParse(input);
  const issues = error ? inputIssues(error, input) : [];
  const project = await findProject(call, input.projectIdOrName);
  if (project) return { project, issues };
  throw issues.length > 0 ? invalidInput(issues) : notFound('Project', input.projectIdOrName);
}
