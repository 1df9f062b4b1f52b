/**
 * A mutation declares the rights that its callers need and the schema of its input. Every surface checks the rights,
 * validates the input with the schema, and calls the mutation with the schema's output.
 */
import type { z } from 'zod';
import { isForeignKeyViolation } from '../../database/connect/violations.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Call, ProjectCall } from './call.ts';
import { inProject } from './catalog.ts';
import { getProjectOfInput, type ProjectReference } from './input-project.ts';
import { getOrg } from './scope.ts';
import { authorize, authorizeInOrg, type Need } from './viewer/needs.ts';
import { type BuilderViewer, requireBuilder } from './viewer/viewer.ts';

export interface Mutation<S extends z.ZodObject, R> {
  /** Throws FORBIDDEN if the viewer lacks the rights. */
  (call: Call, input: z.output<S>): Promise<R>;
  readonly needs: Need;
  readonly input: S;
  readonly description: string;
  /** The number of requests to a provider that the mutation counts as. Absent if it counts as none. */
  readonly providerCalls?: number;
}

/**
 * A group of members of an input that exclude each other: a caller sets at most one. REST accepts them as siblings, like
 * the reference API. GraphQL replaces them by one member, whose type is a `@oneOf` input.
 */
export interface ExclusiveMembers {
  /** The member of the GraphQL input that holds the group. */
  name: string;
  description: string;
  /** True if a caller must set one of the members. */
  isRequired: boolean;
  /** The type that GraphQL creates for the group. */
  type: { id: string; description: string };
  members: readonly string[];
}

/** Returns the group that an input schema declares with `meta({ exclusive })`. */
export function findExclusiveMembers(schema: z.ZodObject): ExclusiveMembers | undefined {
  return schema.meta()?.exclusive as ExclusiveMembers | undefined;
}

interface Declaration<S extends z.ZodObject> {
  /** Describes the effect of the mutation in the schema and the OpenAPI document. */
  description: string;
  needs: Need;
  input: S;
  providerCalls?: number;
}

/** Declares a mutation in the project that `getProjectOfInput` returns for its input. */
export function projectMutation<
  S extends z.ZodObject<{ projectIdOrName: z.ZodType<string | null | undefined> }>,
  R,
>({
  run,
  ...declared
}: Declaration<S> & {
  run(call: ProjectCall, input: z.output<S>, project: Readonly<Row<'Project'>>): Promise<R>;
}): Mutation<S, R> {
  return declare(declared, async (call, input) => {
    const project = await getProjectOfInput(call, input as ProjectReference);
    authorizeInOrg(call.viewer, declared.needs, project.orgId);
    return run(await inProject(call, project.id), input, project);
  });
}

/**
 * Declares a mutation in the org that its input identifies by `orgId`, or by `parentId` as in the reference API. Throws
 * NOT_FOUND if the viewer has no such org.
 */
export function orgMutation<
  S extends z.ZodObject<{ orgId: z.ZodString }> | z.ZodObject<{ parentId: z.ZodString }>,
  R,
>({
  run,
  ...declared
}: Declaration<S> & {
  run(call: Call, input: z.output<S>, org: Row<'Org'>): Promise<R>;
}): Mutation<S, R> {
  return declare(declared, async (call, input) => {
    const org = await getOrg(call, 'orgId' in input ? input.orgId : input.parentId);
    authorizeInOrg(call.viewer, declared.needs, org.id);
    return run(call, input, org);
  });
}

/** Declares a mutation that only builders may call. If it needs a role, `run` checks it. */
export function builderMutation<S extends z.ZodObject, R>({
  run,
  needs = 'bearer',
  ...declared
}: Omit<Declaration<S>, 'needs'> & {
  needs?: Need;
  run(call: Call, input: z.output<S>, builder: BuilderViewer): Promise<R>;
}): Mutation<S, R> {
  return declare({ ...declared, needs }, async (call, input) =>
    run(call, input, requireBuilder(call.viewer)),
  );
}

function declare<S extends z.ZodObject, R>(
  { description, needs, input: schema, providerCalls }: Declaration<S>,
  run: (call: Call, input: z.output<S>) => Promise<R>,
): Mutation<S, R> {
  const runAuthorized = async (call: Call, input: z.output<S>): Promise<R> => {
    authorize(call.viewer, needs);
    try {
      return await run(call, input);
    } catch (error) {
      if (isForeignKeyViolation(error)) await requireParent(call, input, schema);
      throw error;
    }
  };
  const declared = { needs, input: schema, description, ...(providerCalls && { providerCalls }) };
  return Object.assign(runAuthorized, declared);
}

/**
 * Throws NOT_FOUND if the org or the project of the input was deleted while the mutation ran. The deletion causes a
 * foreign key violation.
 */
async function requireParent(
  call: Call,
  input: { orgId?: unknown; parentId?: unknown } & ProjectReference,
  { shape }: z.ZodObject,
): Promise<void> {
  const orgId = input.orgId ?? input.parentId;
  if (typeof orgId === 'string') await getOrg(call, orgId);
  if ('projectIdOrName' in shape) await getProjectOfInput(call, input);
}
