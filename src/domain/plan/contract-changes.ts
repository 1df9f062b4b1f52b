/** Compares the contracts of a project before and after a plan by GraphQL's rules for changes of a schema. */
import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import type { Call } from '../call.ts';
import { formatGraphqlSdl } from '../contract/formats/graphql-sdl.ts';
import { createContractsOfContents } from '../contract/read-contract.ts';
import { enumeration, resource } from '../resource.ts';
import { type Change, listContentsAfter } from './changes.ts';
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

/** Lists the changes of the contract, the most severe first. Returns none if the plan changes no integration. */
export async function listContractChanges(
  call: Call,
  projectId: string,
  { state, changes }: { state: ProjectState; changes: readonly Change[] },
): Promise<ContractChange[]> {
  if (!changes.some(({ kind }) => kind === 'INTEGRATION')) return [];
  const contents = [listContentsAfter(state, []), listContentsAfter(state, changes)];
  const contracts = await createContractsOfContents(call, projectId, contents);
  const [before, after] = contracts.map((contract) => buildSchema(formatGraphqlSdl(contract))) as [
    GraphQLSchema,
    GraphQLSchema,
  ];
  const toContractChanges = (
    severity: ContractChange['severity'],
    schemaChanges: { description: string }[],
  ) => schemaChanges.map(({ description }) => ({ severity, message: description }));
  return [
    ...toContractChanges('BREAKING', findBreakingChanges(before, after)),
    ...toContractChanges('DANGEROUS', findDangerousChanges(before, after)),
    ...toContractChanges('SAFE', findAdditions(before, after)),
  ];
}

/** Finds new types and fields of records. `findDangerousChanges` finds new members of inputs. */
function findAdditions(before: GraphQLSchema, after: GraphQLSchema): { description: string }[] {
  return findBreakingChanges(after, before).flatMap(({ description }) => {
    const [, typeName = ''] = /^(\w+)(?:\.\w+)? was removed\.$/.exec(description) ?? [];
    const isAdded = isObjectType(after.getType(typeName));
    return isAdded ? { description: description.replace('was removed', 'was added') } : [];
  });
}
