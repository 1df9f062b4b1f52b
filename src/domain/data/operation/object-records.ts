/** Reads records of an object in the account of a group, by the builder's names, for typed APIs. */
import { type Issue, invalidInput, moveIssues } from '../../../kernel/errors.ts';
import type { PathMove } from '../../../kernel/text.ts';
import { load } from '../../access/batched.ts';
import type { Call, ProjectCall } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import type { Batch } from '../../access/scope.ts';
import { listSchemaIssues, parseInput, withMovedPaths } from '../../base/parse-input.ts';
import { getDeliveredName } from '../../integrations/installation/choice/mapped-names.ts';
import {
  getServedContent,
  getServingInstallation,
  type ObjectOfGroup,
  type ServingInstallation,
} from './object-installation.ts';
import { createEntry } from './read/read-message.ts';
import { createReadPlan } from './read/read-plan.ts';
import {
  type AccountRecord,
  listInstallationRecords,
  listRecords,
  type RecordsPage,
  recordsInput,
} from './record-search.ts';
import { readRecordsById } from './records-by-id.ts';

/** A page of records, with the installation that serves it. */
export interface ServedPage {
  serving: ServingInstallation;
  page: RecordsPage;
}

interface ServedRecord {
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
  "Lists current records of the group's account at the provider, one page at a time.",
  async (call: Call, object: ObjectOfGroup, args: ListArgs): Promise<ServedPage> => {
    const { objectName } = object;
    const names = Object.keys(args.where);
    const movePath = createPathMove(names);
    const input = await withMovedPaths(movePath, () =>
      parseInput(recordsInput, toRecordsInput(objectName, args)),
    );
    const serving = await getServingInstallation(call, object);
    const catalog = await call.catalogs.getOfProject(serving.installation.projectId);
    refuseUnknownConditions({ catalog }, serving, { objectName, names });
    const installationContent = await getServedContent(call, serving);
    const page = await withMovedPaths(movePath, () =>
      listRecords(call, installationContent, {
        ...input,
        // The contract's name of this object may be the provider's name of another object.
        objectName: serving.providerObject,
      }),
    );
    return { serving, page };
  },
);

/** Lists issues of arguments that are wrong for every account. */
export function listArgumentIssues(objectName: string, args: ListArgs): Issue[] {
  const issues = listSchemaIssues(recordsInput, toRecordsInput(objectName, args));
  return moveIssues(issues, createPathMove(Object.keys(args.where)));
}

function toRecordsInput(objectName: string, { where, first, after }: ListArgs) {
  const filters = Object.entries(where).map(([fieldName, value]) => ({ fieldName, value }));
  return { objectName, filters, first, after };
}

/** Moves the condition with an index to the member of `where` that it was created from. */
function createPathMove(names: readonly string[]): PathMove {
  return (path) => {
    const [member, index, ...inner] = path;
    if (member !== 'filters') return path;
    return ['where', ...(typeof index === 'number' ? [names[index] ?? index] : [...inner])];
  };
}

/** Throws BAD_USER_INPUT for conditions on fields that the installation does not have. */
function refuseUnknownConditions(
  { catalog }: Pick<ProjectCall, 'catalog'>,
  { content, config, providerObject, group, installation }: ServingInstallation,
  { objectName, names }: { objectName: string; names: readonly string[] },
): void {
  const isObject = (object: { objectName: string }) => object.objectName === providerObject;
  const spec = content.read?.objects.find(isObject);
  const choice = config.read.find(isObject);
  const provider = catalog.findWithModule(content.provider, content.module);
  // In this case, `listRecords` throws an error with the reason.
  if (!spec || !choice || !provider) return;
  const readPlan = createReadPlan(spec, choice, provider.limits);
  const mappedNames = readPlan.mappings.map(({ mapToName }) => mapToName);
  const specFields = [...spec.requiredFields, ...spec.optionalFields];
  const fixedFields = specFields.filter(({ fieldName }) => fieldName !== null);
  const mappableFields = specFields.filter(({ fieldName }) => fieldName === null);
  const readNames = new Set([
    ...readPlan.fields,
    ...mappedNames,
    ...fixedFields.map(getDeliveredName),
  ]);
  const unmappedNames = new Set(
    mappableFields.map(getDeliveredName).filter((name) => !mappedNames.includes(name)),
  );
  const unknownNames = names.filter(
    (name) => unmappedNames.has(name) || !(readPlan.readsAll || readNames.has(name)),
  );
  if (unknownNames.length === 0) return;
  throw invalidInput(
    unknownNames.map((name): Issue => {
      const detail = unmappedNames.has(name)
        ? `is not mapped for the group ${group.groupRef}: map a field of its account to ${objectName}.${name} in the config of the installation ${installation.id}.`
        : `is not read for the group ${group.groupRef}: omit the condition on ${objectName}.${name}.`;
      return { path: ['where', name], detail };
    }),
  );
}

/** Calls in the same turn of the event loop that read records of one account share a request. */
export const readObjectRecord = read(
  listInstallationRecords.needs,
  "Reads a current record of the group's account at the provider by its id. Null if there is none.",
  async (call: Call, object: ObjectOfGroup, id: string): Promise<ServedRecord | null> => {
    const serving = await getServingInstallation(call, object);
    const record = await load(call, loadRecordsById, { serving, id });
    // The loader rejects errors, so this only narrows the type.
    if (record instanceof Error) throw record;
    return record && { serving, record };
  },
);

interface RecordKey {
  serving: ServingInstallation;
  id: string;
}

/** Loads records of several accounts. If an account can't be read, the error replaces each of its records. */
const loadRecordsById: Batch<RecordKey, AccountRecord | Error | null> = async (call, keys) => {
  const toObjectKey = ({ serving: { installation, providerObject } }: RecordKey) =>
    `${installation.id} ${providerObject}`;
  const recordsByObject = new Map(
    await Promise.all(
      [...Map.groupBy(keys, toObjectKey)].map(async ([objectKey, keysOfObject]) => {
        const records = await readRecords(call, keysOfObject).catch(
          (error: unknown) => error as Error,
        );
        return [objectKey, records] as const;
      }),
    ),
  );
  return keys.map((key) => {
    const records = recordsByObject.get(toObjectKey(key));
    return records instanceof Map ? (records.get(key.id) ?? null) : (records ?? null);
  });
};

/** Reads records of one object in one or several requests. Omits records that do not exist. */
async function readRecords(
  call: Call,
  keys: readonly RecordKey[],
): Promise<Map<string, AccountRecord>> {
  const [{ serving }] = keys as [RecordKey, ...RecordKey[]];
  const content = await getServedContent(call, serving);
  const ids = keys.map(({ id }) => id);
  const input = { objectName: serving.providerObject, ids };
  const { readPlan, records } = await readRecordsById(call, content, input);
  return new Map(
    records
      .filter((record) => record !== null)
      .map((record) => [record.id, { id: record.id, ...createEntry(record, readPlan) }]),
  );
}
