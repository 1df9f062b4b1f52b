/** Tools of the MCP server. Each calls one domain function, whose schema describes and validates its arguments. */
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Call } from '../../domain/access/call.ts';
import { requireNoIssues } from '../../domain/base/issues.ts';
import { ref } from '../../domain/base/names.ts';
import { parseInput } from '../../domain/base/parse-input.ts';
import { listUnstorable } from '../../domain/base/storable-input.ts';
import type { JsonSchema } from '../../domain/data/contract/formats/json-schema.ts';
import { PROVIDER_CALL_COST } from '../../graphql/execution/query-limits.ts';
import { spellError } from '../../kernel/errors.ts';
import { DEFAULT_SPELLING, formatPath, type Spelling } from '../../kernel/text.ts';
import type { ToolOutcome } from './tool-result.ts';

/** The effect of a tool: it reads, it stores a proposal, or it writes to the provider. */
type ToolEffect = 'READ' | 'PROPOSE' | 'COMMIT';

const ANNOTATIONS: Record<ToolEffect, ToolAnnotations> = {
  READ: { readOnlyHint: true },
  PROPOSE: { destructiveHint: false },
  COMMIT: { idempotentHint: true },
};

/** The arguments of a call, and the project that its path names. */
interface ToolRequest {
  args: unknown;
  projectIdOrName: string;
}

export interface Tool {
  name: string;
  description: string;
  annotations: ToolAnnotations;
  isChange: boolean;
  /** The cost of a call, in objects of the gateway's own database. */
  cost: number;
  /** The schema of the arguments that the caller may send. */
  inputSchema(call: Call): JsonSchema;
  run(call: Call, request: ToolRequest): Promise<ToolOutcome>;
}

interface ToolDeclaration<S extends z.ZodObject> {
  name: string;
  description: string;
  effect: ToolEffect;
  /** True if a call may send a request to the provider. */
  callsProvider: boolean;
  /** The maximum number of objects in the result. Default: 1. */
  itemsMax?: number;
  /** The input of the domain function. Its `groupRef` is the argument `group`. */
  input: S;
  /** Schemas that replace those of arguments which depend on the customer. */
  schemas?: Record<string, JsonSchema>;
  run(call: Call, input: z.output<S>): Promise<ToolOutcome>;
}

export function defineTool<S extends z.ZodObject>(declaration: ToolDeclaration<S>): Tool {
  const { name, description, effect, callsProvider, itemsMax = 1, run, schemas } = declaration;
  const getForm = createForms(declaration.input);
  return {
    name,
    description,
    annotations: ANNOTATIONS[effect],
    isChange: effect !== 'READ',
    cost: (callsProvider ? PROVIDER_CALL_COST : 0) + itemsMax,
    inputSchema: (call) => toInputSchema(getForm(call), schemas),
    async run(call, request) {
      try {
        return await run(call, readInput(getForm(call), request) as z.output<S>);
      } catch (error) {
        throw spellError(error, ARGUMENT_SPELLING);
      }
    },
  };
}

const GROUP = ref.describe('The customer: the ref of a group.');

/**
 * Returns a function that returns the arguments of a caller. The project is no argument, because the path names it. End
 * users and agents name no group, because they have one.
 */
function createForms({ shape }: z.ZodObject): (call: Call) => z.ZodObject {
  const { projectIdOrName: _project, groupRef, ...others } = shape;
  const withoutGroup = z.strictObject(others);
  const withGroup = groupRef ? z.strictObject({ group: GROUP, ...others }) : withoutGroup;
  return ({ viewer }) => (viewer.kind === 'END_USER' ? withoutGroup : withGroup);
}

/** Returns the input of the domain function. Throws BAD_USER_INPUT with every invalid argument. */
function readInput(form: z.ZodObject, { args, projectIdOrName }: ToolRequest): object {
  requireNoIssues(listUnstorable(args));
  const { group = null, ...input } = parseInput(form, args ?? {});
  return { projectIdOrName, groupRef: group, ...input };
}

/** Spells problems with the arguments of tools. */
export const ARGUMENT_SPELLING: Spelling = {
  ...DEFAULT_SPELLING,
  locate: ([member, ...inside]) => {
    const argument = member === 'groupRef' ? 'group' : (member ?? 'arguments');
    return { in: 'body', name: formatPath([argument, ...inside]) };
  },
};

/** Metadata of schemas that only the gateway's other surfaces use. */
const GATEWAY_KEYWORDS = ['enumeration', 'graphql'];

/**
 * Returns the JSON Schema of the arguments. It omits null, which each optional argument accepts, and the gateway's
 * metadata.
 */
function toInputSchema(form: z.ZodObject, schemas: Record<string, JsonSchema> = {}): JsonSchema {
  const {
    $schema: _dialect,
    properties = {},
    ...schema
  } = z.toJSONSchema(form, {
    io: 'input',
    override({ jsonSchema }) {
      for (const keyword of GATEWAY_KEYWORDS) delete jsonSchema[keyword];
    },
  });
  const shownProperties = Object.entries(properties).map(([name, property]) => [
    name,
    schemas[name] ?? withoutNull(property as JsonSchema),
  ]);
  return { ...schema, properties: Object.fromEntries(shownProperties) };
}

function withoutNull({ anyOf, ...schema }: JsonSchema): JsonSchema {
  const alternatives = (anyOf ?? []) as JsonSchema[];
  const others = alternatives.filter(({ type }) => type !== 'null');
  if (others.length === 0) return schema;
  return others.length === 1 ? { ...others[0], ...schema } : { anyOf: others, ...schema };
}
