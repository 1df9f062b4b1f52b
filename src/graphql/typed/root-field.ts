/** Options and helpers of the root fields of typed APIs. */
import { type GraphQLArgumentConfig, type GraphQLFieldConfig, GraphQLID } from 'graphql';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { requireNoIssues } from '../../domain/base/issues.ts';
import type { GeneratedObject } from '../../domain/data/contract/formats/generated.ts';
import {
  listGroupIssues,
  type ObjectOfGroup,
} from '../../domain/data/operation/object-installation.ts';
import { type Issue, spellError } from '../../kernel/errors.ts';
import { DEFAULT_SPELLING, formatPath, type Path, type Spelling } from '../../kernel/text.ts';
import type { ParseArguments } from '../execution/argument-checks.ts';
import type { OperationContext } from '../execution/operation-context.ts';
import { describeField, type FieldDeclaration } from '../schema/fields.ts';
import type { ObjectTypes } from './object-types.ts';

type RootField = GraphQLFieldConfig<unknown, OperationContext>;
export type RootFields = Record<string, RootField>;
// biome-ignore lint/suspicious/noExplicitAny: graphql-js has checked the arguments against the schema
export type Args = Record<string, any>;

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

interface RootFieldOptions {
  /** The maximum number of requests that the field sends to providers. */
  providerCalls: number;
  /** False if a caller without a group of its own may omit the argument `group`. Default: true. */
  needsGroup?: boolean;
  /** Lists issues of arguments that are wrong for every account. */
  listIssues?: (args: Args) => readonly Issue[];
  /** Replaces the description of the declaration. */
  description?: string;
}

/** Returns the options of a field that calls a declared function. */
export function describeRootField(
  declaration: FieldDeclaration,
  { providerCalls, needsGroup = true, listIssues = () => [], description }: RootFieldOptions,
) {
  const { extensions, ...options } = describeField(declaration, description);
  // biome-ignore lint/correctness/useYield: few arguments, which take one step
  const parseArguments: ParseArguments = function* (args: Args, viewer: Viewer) {
    try {
      requireNoIssues([
        ...(needsGroup ? listGroupIssues(viewer, args.group ?? null) : []),
        ...listIssues(args),
      ]);
    } catch (error) {
      throw spellError(error, ARGUMENT_SPELLING);
    }
  };
  return { ...options, extensions: { ...extensions, providerCalls, parseArguments } };
}

/** Spells problems of the domain's functions with the arguments of typed APIs. */
const ARGUMENT_SPELLING: Spelling = {
  ...DEFAULT_SPELLING,
  locate: (path) => ({ in: 'body', name: formatPath(toArgument(path)) }),
};

function toArgument(path: Path): Path {
  const [member, ...inside] = path;
  if (member === 'groupRef') return ['group', ...inside];
  if (member !== 'record') return path;
  return inside[0] === 'id' ? inside : ['input', ...inside];
}

/** Runs a function of the domain. Its errors name the arguments of typed APIs. */
export async function runSpelled<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw spellError(error, ARGUMENT_SPELLING);
  }
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
