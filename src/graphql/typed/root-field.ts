/** Options and helpers of the root fields of typed APIs. */
import { type GraphQLArgumentConfig, type GraphQLFieldConfig, GraphQLID } from 'graphql';
import type { GeneratedObject } from '../../domain/contract/formats/generated.ts';
import { requireNoIssues } from '../../domain/issues.ts';
import type { ObjectOfGroup } from '../../domain/operation/object-installation.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import type { Need } from '../../domain/viewer/needs.ts';
import type { OperationContext } from '../execution/operation-context.ts';
import { describeField } from '../schema/fields.ts';
import type { ObjectTypes } from './object-types.ts';

type RootField = GraphQLFieldConfig<unknown, OperationContext>;
export type RootFields = Record<string, RootField>;
// biome-ignore lint/suspicious/noExplicitAny: graphql-js has checked the arguments against the schema
type Args = Record<string, any>;

/** An object of the contract with its types. */
export interface TypedObject {
  object: GeneratedObject;
  types: ObjectTypes;
}

export const GROUP_ARGUMENT: GraphQLArgumentConfig = {
  type: GraphQLID,
  description:
    "The ref of the group. Default: the group of an end user's token. Other callers must pass it.",
};

/**
 * Returns the options of a field that calls a declared function. It sends at most `providerCalls` requests to
 * providers.
 */
export function describeRootField(
  declaration: { needs: Need; description: string },
  providerCalls: number,
  description = declaration.description,
) {
  const { extensions, ...options } = describeField(declaration, description);
  return { ...options, extensions: { ...extensions, providerCalls } };
}

/** Refuses arguments that the database can't store unchanged. */
export function withStorableArgs<R>(resolve: (args: Args, context: OperationContext) => R) {
  return (_root: unknown, args: Args, context: OperationContext): R => {
    requireNoIssues(listUnstorable(args));
    return resolve(args, context);
  };
}

export function toObjectOfGroup(
  { project }: OperationContext,
  { name: objectName }: GeneratedObject,
  groupRef: string | null | undefined,
): ObjectOfGroup {
  if (!project) throw new Error('Bug: a typed API without a project.');
  return { projectId: project.id, objectName, groupRef: groupRef ?? null };
}

/** Replaces the names of members with the names of the contract. */
export function renameMembers(values: Args, namesByMember: ReadonlyMap<string, string>): Args {
  return Object.fromEntries(
    Object.entries(values).map(([member, value]) => [namesByMember.get(member) ?? member, value]),
  );
}
