/**
 * Resolves mutations whose input has `@oneOf` members. The domain's input is flat: the plugin moves the members of a
 * `@oneOf` input into the input that contains it, and names them by their GraphQL paths in refusals.
 */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { ExclusiveMembers } from '../../domain/declared-mutation.ts';
import { DomainError, invalidInput } from '../../errors.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      exclusiveMembers: ExclusiveMembersPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

class ExclusiveMembersPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: Resolver<Types>,
    { extensions }: PothosOutputFieldConfig<Types>,
  ): Resolver<Types> {
    const groups = (extensions?.exclusiveMembers ?? []) as readonly ExclusiveMembers[];
    if (groups.length === 0) return resolve;
    return async (parent, args, context, info) => {
      const { input } = args as { input: Record<string, unknown> };
      try {
        return await resolve(
          parent,
          { ...args, input: flattenGroups(input, groups) },
          context,
          info,
        );
      } catch (error) {
        throw addGroupsToError(error, groups);
      }
    };
  }
}

function flattenGroups(input: Record<string, unknown>, groups: readonly ExclusiveMembers[]) {
  return Object.assign({ ...input }, ...groups.map(({ name }) => input[name]));
}

/** Writes `input.credentials.apiKey` for `input.apiKey`, in the issues of a refusal and in its message. */
function addGroupsToError(error: unknown, groups: readonly ExclusiveMembers[]): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error;
  const issues = error.issues.map((issue) => ({
    ...issue,
    name: addGroupNames(issue.name, groups),
  }));
  if (error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, addGroupNames(error.message, groups), {
    ...error.extra,
    issues,
  });
}

function addGroupNames(text: string, groups: readonly ExclusiveMembers[]): string {
  return groups.reduce((result, { name, members }) => {
    // Strings in double quotes are the caller's.
    const pattern = new RegExp(
      `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(?=(?:${members.join('|')})\\b)`,
      'g',
    );
    return result.replace(pattern, (match) => (match === 'input.' ? `input.${name}.` : match));
  }, text);
}

SchemaBuilder.registerPlugin('exclusiveMembers', ExclusiveMembersPlugin);
