/**
 * Mutations are declared with what a caller needs for them and with the schema of their input. On every surface
 * the need is checked first, then the input is opened, and the function that does the work gets it parsed.
 */
import type { z } from 'zod';
import type { Row } from '../database/rows.ts';
import { isForeignKeyViolation } from '../database/violations.ts';
import { type Issue, notFound } from '../errors.ts';
import type { Call } from './call.ts';
import { type OpenedInput, openInput } from './opened-input.ts';
import { findProject, getOrg, getProject } from './scope.ts';
import { authorize, type Need } from './viewer/needs.ts';
import { type BuilderViewer, projectIdOf, requireBuilder } from './viewer/viewer.ts';

export interface Mutation<S extends z.ZodObject, R> {
  /** The input as it came in, or opened already. */
  (call: Call, input: unknown): Promise<R>;
  readonly needs: Need;
  readonly input: S;
}

type Project = Readonly<Row<'Project'>>;
type OfProject = z.ZodObject<{ projectIdOrName: z.ZodString }>;

interface Declaration<S extends z.ZodObject> {
  needs: Need;
  input: S;
  /** Further findings, which need no project: they are reported with the schema's. */
  findings?(call: Call, given: z.input<S>): Iterable<Issue>;
}

/** A mutation in the project that its input names. */
export function projectMutation<S extends OfProject, R>({
  run,
  ...declared
}: Declaration<S> & {
  run(call: Call, input: z.output<S>, project: Project): Promise<R>;
}): Mutation<S, R> {
  return declare(declared, async (call, opened) => {
    const input = opened.parsed();
    return run(call, input, await projectOf(call, opened));
  });
}

/**
 * A projectMutation whose input has further findings that need the project. `run` checks the input, and gets it parsed
 * by `opened.parsed(findings)`, which throws the findings of the schema together with these. `ahead` reads beside the
 * query for the project, if the caller has only one.
 */
export function openProjectMutation<S extends OfProject, R, A = never>({
  run,
  ahead,
  ...declared
}: Declaration<S> & {
  ahead?(call: Call, projectId: string, given: z.input<S>): Promise<A>;
  run(call: Call, opened: OpenedInput<S>, project: Project, read?: Promise<A>): Promise<R>;
}): Mutation<S, R> {
  return declare(declared, async (call, opened) => {
    const ownId = projectIdOf(call.viewer);
    const read = ownId === null ? undefined : ahead?.(call, ownId, opened.given);
    // `run` awaits `read` and sees its error. If it never does, the rejection must not be unhandled.
    read?.catch(() => {});
    return run(call, opened, await projectOf(call, opened), read);
  });
}

/** A mutation in the org that its input names. Throws NOT_FOUND if the viewer has no such org. */
export function orgMutation<S extends z.ZodObject<{ orgId: z.ZodString }>, R>({
  run,
  ...declared
}: Declaration<S> & {
  run(call: Call, input: z.output<S>, org: Row<'Org'>): Promise<R>;
}): Mutation<S, R> {
  return declare(declared, async (call, opened) => {
    const input = opened.parsed();
    return run(call, input, await getOrg(call, input.orgId));
  });
}

/** A mutation that a person makes. */
export function builderMutation<S extends z.ZodObject, R>({
  run,
  ...declared
}: Omit<Declaration<S>, 'needs'> & {
  run(call: Call, input: z.output<S>, builder: BuilderViewer): Promise<R>;
}): Mutation<S, R> {
  return declare({ ...declared, needs: 'bearer' }, async (call, opened) =>
    run(call, opened.parsed(), requireBuilder(call.viewer)),
  );
}

function declare<S extends z.ZodObject, R>(
  { needs, input: schema, findings }: Declaration<S>,
  run: (call: Call, opened: OpenedInput<S>) => Promise<R>,
): Mutation<S, R> {
  const declared = async (call: Call, input: unknown): Promise<R> => {
    authorize(call.viewer, needs);
    const opened = openInput(schema, input);
    if (findings) opened.add(findings(call, opened.given));
    try {
      return await run(call, opened);
    } catch (error) {
      if (isForeignKeyViolation(error)) await getParentAgain(call, opened.given);
      throw error;
    }
  };
  return Object.assign(declared, { needs, input: schema });
}

/**
 * The org or project that an input names may be deleted between its look-up and the change in it, which the database
 * then refuses. Throws NOT_FOUND, as for whoever asks later.
 */
async function getParentAgain(
  call: Call,
  given: { orgId?: unknown; parentId?: unknown; projectIdOrName?: unknown },
): Promise<void> {
  const { orgId = given.parentId, projectIdOrName } = given;
  if (typeof orgId === 'string') await getOrg(call, orgId);
  if (typeof projectIdOrName === 'string') await getProject(call, projectIdOrName);
}

/** Throws BAD_USER_INPUT with the schema's findings, if there are any, before NOT_FOUND. */
async function projectOf(call: Call, opened: OpenedInput<OfProject>): Promise<Project> {
  const { projectIdOrName } = opened.given;
  const project = await findProject(call, projectIdOrName);
  if (project) return project;
  opened.parsed();
  throw notFound('Project', projectIdOrName);
}
