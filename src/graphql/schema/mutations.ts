/** Adds declared mutations to the schema. */
import type { ObjectRef } from '@pothos/core';
import type { FieldNode } from 'graphql';
import { z } from 'zod';
import type { Call } from '../../domain/access/call.ts';
import {
  type ExclusiveMembers,
  findExclusiveMembers,
  type Mutation,
} from '../../domain/access/declared-mutation.ts';
import { toIssues } from '../../domain/base/issues.ts';
import { DomainError, invalidInput } from '../../kernel/errors.ts';
import { parseBounded } from '../../work/bounded-parse.ts';
import { describeField } from './fields.ts';
import { describeInput, getInputType } from './inputs.ts';
import { builder, type Types } from './schema-builder.ts';

type Mutations<R> = Record<string, Mutation<z.ZodObject, R>>;

/** Adds mutations that return one object: `addMutations('topic', Topic, { createTopic, updateTopic })`. */
export function addMutations<T extends object>(
  field: string,
  type: ObjectRef<Types, T>,
  mutations: Mutations<T>,
): void {
  for (const [name, mutation] of Object.entries(mutations)) {
    const payload = builder.objectRef<T>(namePayload(name)).implement({
      description: describeResult(name),
      fields: (t) => ({
        [field]: t.field({
          type: type as ObjectRef<Types, object>,
          description: `The ${type.name} after the mutation.`,
          resolve: (row) => row,
        }),
      }),
    });
    addMutation(name, mutation, payload);
  }
}

/** Adds mutations that delete one object. */
export function addDeletions(mutations: Mutations<{ deletedId: string }>): void {
  for (const [name, mutation] of Object.entries(mutations)) {
    addMutation(name, mutation, DeletePayload);
  }
}

const DeletePayload = builder.objectRef<{ deletedId: string }>('DeletePayload').implement({
  description: 'Result of a mutation that deletes.',
  fields: (t) => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the deleted object.' }),
  }),
});

/** Returns the name of a payload type: `CreateTopicPayload` for `createTopic`. */
export function namePayload(mutation: string): string {
  return `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
}

/** Returns the description of a payload type. */
export function describeResult(mutation: string): string {
  return `Result of \`${mutation}\`.`;
}

/**
 * Adds a mutation with its payload type. The field is nullable, so that its failure leaves the results of the fields before
 * it in the response.
 */
export function addMutation<R extends object>(
  name: string,
  mutation: Mutation<z.ZodObject, R>,
  payload: ObjectRef<Types, R>,
): void {
  const { extensions, ...options } = describeField(mutation);
  const { parseArguments, run } = prepare(mutation);
  builder.mutationField(name, (t) =>
    t.field({
      ...options,
      extensions: { ...extensions, input: mutation.input, parseArguments },
      type: payload as ObjectRef<Types, object>,
      nullable: true,
      args: {
        input: t.arg({
          type: getInputType(mutation.input),
          required: true,
          description: describeInput(mutation.input),
        }),
      },
      // A caller other than the pipeline, such as a test, has no parsed inputs.
      resolve: (_root, args, { call, inputs }, info) => {
        const input = inputs?.get(info.fieldNodes[0] as FieldNode) ?? parseArguments(args);
        return run(call, input as Record<string, unknown>);
      },
    }),
  );
}

/** Returns functions that convert a GraphQL input to the domain's input, and call the mutation with it. */
function prepare<S extends z.ZodObject, R>(mutation: Mutation<S, R>) {
  const group = findExclusiveMembers(mutation.input);
  const schema = z.object({ input: mutation.input });
  const toPublicError = (error: unknown) => (group ? addGroupToError(error, group) : error);
  return {
    parseArguments({ input }: { input?: unknown }): z.output<S> {
      const args = { input: group ? flattenGroup(input as Input, group) : input };
      const { data, error } = parseBounded(schema, args);
      if (error) throw toPublicError(invalidInput(toIssues(error, args)));
      return (data as { input: z.output<S> }).input;
    },
    async run(call: Call, input: z.output<S>): Promise<R> {
      try {
        return await mutation(call, input);
      } catch (error) {
        throw toPublicError(error);
      }
    },
  };
}

type Input = Record<string, unknown>;

/** Replaces the group with its member: `records: { record }` becomes `record`. */
function flattenGroup(input: Input, { name }: ExclusiveMembers): Input {
  const { [name]: member, ...otherMembers } = input;
  return { ...otherMembers, ...(member as object | null | undefined) };
}

/** Replaces `input.apiKey` with `input.credentials.apiKey` in the message and the issues of an error. */
function addGroupToError(error: unknown, group: ExclusiveMembers): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error;
  const issues = error.issues.map((issue) => ({
    ...issue,
    name: addGroupName(issue.name, group),
  }));
  if (error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, addGroupName(error.message, group), {
    ...error.extra,
    issues,
  });
}

function addGroupName(text: string, { name, members }: ExclusiveMembers): string {
  // Strings in double quotes contain the caller's input, which stays unchanged.
  const pattern = new RegExp(
    `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(?=(?:${members.join('|')})\\b)`,
    'g',
  );
  return text.replace(pattern, (match) => (match === 'input.' ? `input.${name}.` : match));
}
