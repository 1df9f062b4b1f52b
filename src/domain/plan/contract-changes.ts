/** Compares the contracts of a project before and after a plan, by GraphQL's rules for changes of a schema. */
import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import type { Call } from '../call.ts';
import { graphqlOf } from '../contract/formats/graphql-sdl.ts';
import { contractOfContents } from '../contract/read-contract.ts';
import { enumeration, resource } from '../resource.ts';
import { type Change, contentsAfter } from './changes.ts';
import type { ProjectState } from './project-state.ts';

const contractChangeSeverity = enumeration(
  'ContractChangeSeverity',
  'The effect of a change of the contract on code that uses it.',
  {
    BREAKING: 'Code that compiled before may no longer compile or run.',
    DANGEROUS: 'Code still compiles, and may behave differently.',
    SAFE: 'Code is not affected.',
  },
);

export const contractChangeResource = resource(
  'ContractChange',
  "A change of the project's contract, found by comparing its GraphQL types before and after the plan.",
  {
    severity: contractChangeSeverity.describe('The effect on code that uses the contract.'),
    message: z.string().describe('The change, like `ContactsRecord.tier was removed.`'),
  },
);
export type ContractChange = z.output<typeof contractChangeResource>;

/** Returns the changes of the contract, the most severe first. None if the plan changes no integration. */
export async function listContractChanges(
  call: Call,
  projectId: string,
  { state, changes }: { state: ProjectState; changes: readonly Change[] },
): Promise<ContractChange[]> {
  if (!changes.some(({ kind }) => kind === 'INTEGRATION')) return [];
  const before = await schemaOf(call, projectId, contentsAfter(state, []));
  const after = await schemaOf(call, projectId, contentsAfter(state, changes));
  const withSeverity = (severity: ContractChange['severity'], found: { description: string }[]) =>
    found.map(({ description }) => ({ severity, message: description }));
  return [
    ...withSeverity('BREAKING', findBreakingChanges(before, after)),
    ...withSeverity('DANGEROUS', findDangerousChanges(before, after)),
    ...withSeverity('SAFE', findAdditions(before, after)),
  ];
}

async function schemaOf(
  call: Call,
  projectId: string,
  contents: Parameters<typeof contractOfContents>[2],
): Promise<GraphQLSchema> {
  return buildSchema(graphqlOf(await contractOfContents(call, projectId, contents)));
}

/** Returns the types and fields that records gain. New members of inputs are found as dangerous changes. */
function findAdditions(before: GraphQLSchema, after: GraphQLSchema): { description: string }[] {
  return findBreakingChanges(after, before).flatMap(({ description }) => {
    const [, typeName = ''] = /^(\w+)(?:\.\w+)? was removed\.$/.exec(description) ?? [];
    const isAdded = isObjectType(after.getType(typeName));
    return isAdded ? { description: description.replace('was removed', 'was added') } : [];
  });
}
