/** Reads records of an object in the account of a group, by the builder's names, for typed APIs. */
import { type Issue, invalidInput } from '../../errors.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FieldMapping } from '../integration/integration-content.ts';
import type { Batch } from '../scope.ts';
import { type ArgumentNames, parseInput, withArgumentNames } from './argument-names.ts';
import {
  getServingInstallation,
  type ObjectOfGroup,
  type ServingInstallation,
} from './object-installation.ts';
import { createReadPlan } from './read/read-plan.ts';
import {
  type AccountRecord,
  listInstallationRecords,
  type RecordsPage,
  readInstallationRecords,
  recordsInput,
} from './record-search.ts';

/** A page of records, with the installation that serves it. */
export interface ServedPage {
  serving: ServingInstallation;
  page: RecordsPage;
}

export interface ServedRecord {
  serving: ServingInstallation;
  record: AccountRecord;
}

interface ListArgs {
  /** The required value of each field, by its name in the contract. */
  where: Readonly<Record<string, unknown>>;
  first?: number | null | undefined;
  after?: string | null | undefined;
}

export const listObjectRecords = read(
  listInstallationRecords.needs,
  "Records at the provider, as they are now: one page of the group's account.",
  async (
    call: Call,
    object: ObjectOfGroup,
    { where, first, after }: ListArgs,
  ): Promise<ServedPage> => {
    const { objectName } = object;
    const names = Object.keys(where);
    const filters = names.map((fieldName) => ({ fieldName, value: where[fieldName] }));
    const nameArgument = nameWhereArguments(names);
    const input = parseInput(recordsInput, { objectName, filters, first, after }, nameArgument);
    const serving = await getServingInstallation(call, object);
    refuseUnknownConditions(call, serving, { objectName, names });
    const page = await withArgumentNames(nameArgument, () =>
      listInstallationRecords(call, serving.installation, {
        ...input,
        // The name in contracts may be the provider's name of another object.
        objectName: serving.providerObject,
      }),
    );
    return { serving, page };
  },
);

function nameWhereArguments(names: readonly string[]): ArgumentNames {
  return (name) => {
    const [, index, member] = /^filters(?:\[(\d+)\])?(\..+)?$/.exec(name) ?? [];
    if (index !== undefined) return `where.${names[Number(index)]}`;
    return name.startsWith('filters') ? `where${member ?? ''}` : name;
  };
}

/** Throws BAD_USER_INPUT for conditions on fields that the installation does not have. */
function refuseUnknownConditions(
  { catalogue }: Call,
  { content, config, providerObject, group, installation }: ServingInstallation,
  { objectName, names }: { objectName: string; names: readonly string[] },
): void {
  const isOfObject = (object: { objectName: string }) => object.objectName === providerObject;
  const spec = content.read?.objects.find(isOfObject);
  const choice = config.read.find(isOfObject);
  const provider = catalogue.findAt(content.provider, content.module);
  // `listInstallationRecords` throws an error with the reason.
  if (!spec || !choice || !provider) return;
  const plan = createReadPlan(spec, choice, provider.limits);
  const mappedNames = plan.mappings.map(({ mapToName }) => mapToName);
  const specFields = [...spec.requiredFields, ...spec.optionalFields];
  const fixedFields = specFields.filter(({ fieldName }) => fieldName !== null);
  const mappableFields = specFields.filter(({ fieldName }) => fieldName === null);
  const knownNames = new Set([...plan.fields, ...mappedNames, ...fixedFields.map(getFieldName)]);
  const unmapped = new Set(
    mappableFields.map(getFieldName).filter((name) => !mappedNames.includes(name)),
  );
  const unknown = names.filter(
    (name) => unmapped.has(name) || !(plan.readsAll || knownNames.has(name)),
  );
  if (unknown.length === 0) return;
  throw invalidInput(
    unknown.map((name): Issue => {
      const remedy = unmapped.has(name)
        ? `map a field of the account to it in the config of the installation ${installation.id}`
        : 'omit the condition for this group';
      const detail = `is a field of ${objectName} that the account of the group ${group.groupRef} does not have: ${remedy}.`;
      return { in: 'body', name: `where.${name}`, detail };
    }),
  );
}

function getFieldName({ fieldName, mapToName }: FieldMapping): string {
  return mapToName ?? fieldName ?? '';
}

/** Returns null for a record that does not exist. Records of one account in the same tick share a request. */
export const readObjectRecord = read(
  readInstallationRecords.needs,
  "A record at the provider by its id, as it is now, in the group's account. Null if there is none.",
  async (call: Call, object: ObjectOfGroup, id: string): Promise<ServedRecord | null> => {
    const serving = await getServingInstallation(call, object);
    const { installation, providerObject: objectName } = serving;
    const record = await load(call, recordsById, { installation, objectName, id });
    // The loader rejects errors, so this only narrows the type.
    if (record instanceof Error) throw record;
    return record && { serving, record };
  },
);

interface RecordKey {
  installation: ServingInstallation['installation'];
  objectName: string;
  id: string;
}

/** If reading from one account fails, only its records are replaced by the error. */
const recordsById: Batch<RecordKey, AccountRecord | Error | null> = async (call, keys) => {
  const toObjectKey = ({ installation, objectName }: RecordKey) =>
    `${installation.id} ${objectName}`;
  const recordsByObject = new Map<string, Map<string, AccountRecord | null> | Error>();
  const read = async (key: string, [first, ...others]: RecordKey[]) => {
    if (!first) return;
    const ids = [first, ...others].map(({ id }) => id);
    const { installation, objectName } = first;
    const records = await readInstallationRecords(call, installation, { objectName, ids }).catch(
      (error: unknown) => error as Error,
    );
    const byId = (all: (AccountRecord | null)[]) =>
      new Map(ids.map((id, i) => [id, all[i] ?? null]));
    recordsByObject.set(key, Array.isArray(records) ? byId(records) : records);
  };
  await Promise.all([...Map.groupBy(keys, toObjectKey)].map(([key, group]) => read(key, group)));
  return keys.map((key) => {
    const records = recordsByObject.get(toObjectKey(key));
    return records instanceof Map ? (records.get(key.id) ?? null) : (records ?? null);
  });
};
