/**
 * Describes objects to agents by their names, and by JSON Schemas of the fields of the customer's account. Names the
 * tools of pinned writes, such as `create_people`.
 */
import { z } from 'zod';
import type { Issue } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import { projectRead } from '../access/declared-read.ts';
import type { PinnedTool } from '../access/viewer/agent-grant.ts';
import { orAgent } from '../access/viewer/needs.ts';
import { orNull } from '../base/input-schemas.ts';
import { createInputIssue, requireNoIssues } from '../base/issues.ts';
import { projectIdOrName, ref } from '../base/names.ts';
import type { ContractVerb, ObjectContract } from '../data/contract/contract-resource.ts';
import type { FieldContract } from '../data/contract/field-contract.ts';
import {
  createRecordSchema,
  createValuesSchema,
  type JsonSchema,
} from '../data/contract/formats/json-schema.ts';
import {
  type AgentContract,
  findGrant,
  getAgentContract,
  getContractObject,
} from './agent-objects.ts';

/** The maximum number of objects that a search returns. */
const OBJECTS_MAX = 20;
const WORDS_LENGTH_MAX = 200;
/** The maximum number of fields that an input names. */
const FIELDS_MAX = 500;
/** The maximum size of a description's fields as JSON, in bytes. Each field may be in three schemas. */
const FIELDS_BYTES_MAX = 60_000;
/** The score of a word that is in the name of an object. A word in the name of a field scores 1. */
const NAME_SCORE = 3;

export const agentGroupRef = orNull(ref).describe(
  'The ref of the group. Default: the group of the end user or the agent; other callers must name it.',
);
export const agentObjectName = z
  .string()
  .min(1)
  .max(256)
  .describe('The name of the object, from search_objects.');

export const agentFieldNames = orNull(
  z.array(z.string().min(1).max(256)).min(1).max(FIELDS_MAX),
).describe('Only these fields. Default: all fields.');

export const searchObjectsInput = z.object({
  projectIdOrName,
  groupRef: agentGroupRef,
  words: orNull(z.string().max(WORDS_LENGTH_MAX)).describe(
    'Words of object or field names. Default: all objects.',
  ),
});

interface ObjectSearchResult {
  objects: ObjectContract[];
  /** The number of objects that match, including those beyond the maximum. */
  total: number;
}

/** Objects that match the most words come first. */
export const searchAgentObjects = projectRead(
  orAgent('read'),
  'Finds objects by words of their names and fields.',
  async (
    call,
    { groupRef, words }: z.output<typeof searchObjectsInput>,
    { id: projectId },
  ): Promise<ObjectSearchResult> => {
    const { contract } = await getAgentContract(call, { projectId, groupRef });
    const searchWords = splitWords(words ?? '');
    if (searchWords.length === 0) return limitObjects(contract.objects);
    const matches = contract.objects
      .map((object) => ({ object, score: scoreObject(object, searchWords) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    return limitObjects(matches.map(({ object }) => object));
  },
);

function limitObjects(objects: readonly ObjectContract[]): ObjectSearchResult {
  return { objects: objects.slice(0, OBJECTS_MAX), total: objects.length };
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function scoreObject(object: ObjectContract, words: readonly string[]): number {
  const names = `${object.name} ${object.displayName ?? ''}`.toLowerCase();
  const fieldNames = object.fields
    .map(({ name, description }) => `${name} ${description ?? ''}`)
    .join(' ')
    .toLowerCase();
  let score = 0;
  for (const word of words) {
    if (names.includes(word)) score += NAME_SCORE;
    if (fieldNames.includes(word)) score += 1;
  }
  return score;
}

export const describeObjectInput = z.object({
  projectIdOrName,
  groupRef: agentGroupRef,
  objectName: agentObjectName,
  fields: agentFieldNames,
});

/** An object with its schemas. A schema is null if the agent may not use the verb, or the account does not support it. */
interface DescribedObject {
  object: ObjectContract;
  /** Fields that were omitted, so that the description is not too large. */
  remainingFields: string[];
  /** The schema of a record. */
  read: JsonSchema | null;
  /** The schema of the values of a new record. */
  create: JsonSchema | null;
  /** The schema of the values of an update. */
  update: JsonSchema | null;
}

export const describeAgentObject = projectRead(
  orAgent('read'),
  "Describes an object by JSON Schemas of the fields of the customer's account.",
  async (
    call,
    { groupRef, objectName, fields: names }: z.output<typeof describeObjectInput>,
    { id: projectId },
  ): Promise<DescribedObject> => {
    const agentContract = await getAgentContract(call, { projectId, groupRef });
    const contractObject = getContractObject(agentContract, objectName, null);
    requireNoIssues(listUnknownFieldIssues(names, contractObject.fields));
    const { fields, remainingFields } = selectFields(contractObject, names);
    const object = { ...contractObject, fields };
    const createForVerb = (verb: ContractVerb, createSchema: () => JsonSchema) =>
      object.verbs.includes(verb) ? createSchema() : null;
    return {
      object,
      remainingFields,
      read: createForVerb('LIST', () => createRecordSchema(object)),
      create: createForVerb('CREATE', () => createValuesSchema(object, 'CREATE')),
      update: createForVerb('UPDATE', () => createValuesSchema(object, 'UPDATE')),
    };
  },
);

/** Returns an issue for each name that is not one of the fields. */
export function* listUnknownFieldIssues(
  names: readonly string[] | null,
  fields: readonly Pick<FieldContract, 'name'>[],
): Generator<Issue> {
  for (const [index, name] of (names ?? []).entries()) {
    if (fields.some((field) => field.name === name)) continue;
    yield createInputIssue(
      ['fields', index],
      'must be a field that this tool can use. Call describe_object for the fields of the object.',
      name,
    );
  }
}

/** Returns the named fields, or all fields, as many as fit in a description. Required fields take precedence. */
function selectFields({ fields }: ObjectContract, names: readonly string[] | null) {
  const requestedFields = fields.filter(({ name }) => names?.includes(name) ?? true);
  const requiredFirst = requestedFields.toSorted(
    (a, b) => Number(b.isRequired) - Number(a.isRequired),
  );
  const fittingFields = new Set<FieldContract>();
  let bytes = 0;
  for (const field of requiredFirst) {
    bytes += Buffer.byteLength(JSON.stringify(field));
    if (fittingFields.size === 0 || bytes <= FIELDS_BYTES_MAX) fittingFields.add(field);
  }
  return {
    fields: requestedFields.filter((field) => fittingFields.has(field)),
    remainingFields: requestedFields
      .filter((field) => !fittingFields.has(field))
      .map(({ name }) => name),
  };
}

/** A write with its own tool. */
export interface PinnedWrite extends NamedPinnedTool {
  /** Null for a deletion. */
  valuesSchema: JsonSchema | null;
}

/**
 * Returns the agent's pinned writes that the customer's account supports, in the order of the session. The schemas omit
 * descriptions and enum values, because texts of providers must not be part of a tool. `describe_object` returns them as
 * data. Callers that are not agents have no pinned writes.
 */
export const listPinnedWrites = projectRead(
  orAgent('read'),
  'Lists the writes of an agent that have their own tools.',
  async (call: Call, _input: object, { id: projectId }): Promise<PinnedWrite[]> => {
    const tools = namePinnedTools(findGrant(call.viewer)?.pinnedTools ?? []);
    if (tools.length === 0) return [];
    const agentContract = await getAgentContract(call, { projectId, groupRef: null });
    return tools.flatMap((tool) => toPinnedWrite(agentContract, tool) ?? []);
  },
);

function toPinnedWrite({ contract }: AgentContract, tool: NamedPinnedTool): PinnedWrite | null {
  const { type, objectName } = tool;
  const object = contract.objects.find(({ name }) => name === objectName);
  if (!object?.verbs.includes(type)) return null;
  if (type === 'DELETE') return { ...tool, valuesSchema: null };
  const fields = object.fields.map((field) => ({ ...field, description: null, values: null }));
  const plainObject = { ...object, displayName: null, fields };
  return { ...tool, valuesSchema: createValuesSchema(plainObject, type) };
}

interface NamedPinnedTool extends PinnedTool {
  /** Distinct in the session, and safe for every client: at most 64 letters, digits, `_` and `-`. */
  name: string;
}

const NAME_LENGTH_MAX = 64;

/** Names the tools of a session. The names depend only on the list, so that they are the same in every call. */
export function namePinnedTools(pinnedTools: readonly PinnedTool[]): NamedPinnedTool[] {
  const usedNames = new Set<string>();
  return pinnedTools.map(({ type, objectName }) => {
    const name = createFreeName(`${type.toLowerCase()}_${toSafeName(objectName)}`, usedNames);
    usedNames.add(name);
    return { name, type, objectName };
  });
}

function toSafeName(objectName: string): string {
  return objectName.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
}

function createFreeName(base: string, usedNames: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : `_${count}`;
    const name = `${base.slice(0, NAME_LENGTH_MAX - suffix.length)}${suffix}`;
    if (!usedNames.has(name)) return name;
  }
}
