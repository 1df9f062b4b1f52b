/** Describes objects to agents: their names, and the schemas of exactly this customer's fields. */
import { z } from 'zod';
import type { Issue } from '../../errors.ts';
import type { Call } from '../call.ts';
import {
  createRecordSchema,
  createValuesSchema,
  type JsonSchema,
} from '../contract/formats/json-schema.ts';
import type { ContractVerb, FieldContract, ObjectContract } from '../contract/object-contract.ts';
import { projectRead } from '../declared-read.ts';
import { createInputIssue, requireNoIssues } from '../issues.ts';
import { projectIdOrName, ref } from '../names.ts';
import { orNull } from '../optional-value.ts';
import { orAgent } from '../viewer/needs.ts';
import {
  type AgentContract,
  findGrant,
  getAgentContract,
  getContractObject,
} from './agent-objects.ts';
import { type NamedPinnedTool, namePinnedTools } from './pinned-tools.ts';

/** The most objects that one search returns. */
const OBJECTS_MAX = 20;
const WORDS_LENGTH_MAX = 200;

export const agentGroupRef = orNull(ref).describe(
  'The ref of the group. Default: the group of the end user or the agent; other callers must name it.',
);
export const agentObjectName = z
  .string()
  .min(1)
  .max(256)
  .describe('The name of the object, from search_objects.');

const FIELDS_MAX = 500;

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

export interface FoundObjects {
  objects: ObjectContract[];
  /** The number of objects that match, including those beyond the maximum. */
  total: number;
}

/** Objects that match more words come first. */
export const searchAgentObjects = projectRead(
  orAgent('read'),
  'Finds objects by words of their names and fields.',
  async (
    call,
    { groupRef, words }: z.output<typeof searchObjectsInput>,
    { id: projectId },
  ): Promise<FoundObjects> => {
    const { contract } = await getAgentContract(call, { projectId, groupRef });
    const searchWords = splitWords(words ?? '');
    if (searchWords.length === 0) return limitObjects(contract.objects);
    const matches = contract.objects
      .map((object) => ({ object, score: scoreMatches(object, searchWords) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    return limitObjects(matches.map(({ object }) => object));
  },
);

function limitObjects(objects: readonly ObjectContract[]): FoundObjects {
  return { objects: objects.slice(0, OBJECTS_MAX), total: objects.length };
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

const NAME_SCORE = 3;

/** A word in the name of the object counts more than one in the name of a field. */
function scoreMatches(object: ObjectContract, words: readonly string[]): number {
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

/** The schemas are null if the agent or the account does not support the verb. */
export interface DescribedObject {
  object: ObjectContract;
  /** Fields that the schemas lack, because they would be too large. */
  omittedFields: string[];
  /** A record that is read. */
  read: JsonSchema | null;
  /** The values of a new record. */
  create: JsonSchema | null;
  /** The values of an update. */
  update: JsonSchema | null;
}

export const describeAgentObject = projectRead(
  orAgent('read'),
  "Describes an object: JSON Schemas of exactly the fields of the customer's account.",
  async (
    call,
    { groupRef, objectName, fields: names }: z.output<typeof describeObjectInput>,
    { id: projectId },
  ): Promise<DescribedObject> => {
    const contract = await getAgentContract(call, { projectId, groupRef });
    const whole = getContractObject(contract, objectName, null);
    requireNoIssues(findUnknownFields(names, whole.fields));
    const { fields, omittedFields } = takeFields(whole, names);
    const object = { ...whole, fields };
    const ifIncluded = (verb: ContractVerb, create: () => JsonSchema) =>
      object.verbs.includes(verb) ? create() : null;
    return {
      object,
      omittedFields,
      read: ifIncluded('LIST', () => createRecordSchema(object)),
      create: ifIncluded('CREATE', () => createValuesSchema(object, 'CREATE')),
      update: ifIncluded('UPDATE', () => createValuesSchema(object, 'UPDATE')),
    };
  },
);

/** Returns an issue for each name that is not one of the fields. */
export function* findUnknownFields(
  names: readonly string[] | null,
  fields: readonly Pick<FieldContract, 'name'>[],
): Generator<Issue> {
  for (const [index, name] of (names ?? []).entries()) {
    if (fields.some((field) => field.name === name)) continue;
    yield createInputIssue(
      ['fields', index],
      'is not such a field of the object. Call describe_object for its fields.',
      name,
    );
  }
}

/** The most bytes of the fields of one description, as JSON of the contract. Each may be in three schemas. */
const FIELDS_BYTES_MAX = 60_000;

/** Returns the named fields, or all, as many as fit in a description. Required fields come before others. */
function takeFields({ fields }: ObjectContract, names: readonly string[] | null) {
  const requested = fields.filter(({ name }) => names?.includes(name) ?? true);
  const requiredFirst = requested.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
  const fitting = new Set<FieldContract>();
  let bytes = 0;
  for (const field of requiredFirst) {
    bytes += Buffer.byteLength(JSON.stringify(field));
    if (fitting.size === 0 || bytes <= FIELDS_BYTES_MAX) fitting.add(field);
  }
  return {
    fields: requested.filter((field) => fitting.has(field)),
    omittedFields: requested.filter((field) => !fitting.has(field)).map(({ name }) => name),
  };
}

/** A write with a tool of its own, and the schema of its values. Null for a deletion. */
export interface PinnedWrite extends NamedPinnedTool {
  valuesSchema: JsonSchema | null;
}

/**
 * The pinned writes of an agent that its customer's account supports, in the order of its session. Schemas have no
 * descriptions and no enum values, because those may be texts of the provider; describe_object has them. Other callers have no pinned writes.
 */
export const listPinnedWrites = projectRead(
  orAgent('read'),
  'Lists the writes of an agent that have tools of their own.',
  async (call: Call, _input: object, { id: projectId }): Promise<PinnedWrite[]> => {
    const pinned = namePinnedTools(findGrant(call.viewer)?.pinnedTools ?? []);
    if (pinned.length === 0) return [];
    const contract = await getAgentContract(call, { projectId, groupRef: null });
    return pinned.flatMap((tool) => toPinnedWrite(contract, tool) ?? []);
  },
);

function toPinnedWrite({ contract }: AgentContract, tool: NamedPinnedTool): PinnedWrite | null {
  const { type, objectName } = tool;
  const object = contract.objects.find(({ name }) => name === objectName);
  if (!object?.verbs.includes(type)) return null;
  if (type === 'DELETE') return { ...tool, valuesSchema: null };
  const fields = object.fields.map((field) => ({ ...field, description: null, values: null }));
  const undescribed = { ...object, displayName: null, fields };
  return { ...tool, valuesSchema: createValuesSchema(undescribed, type) };
}
