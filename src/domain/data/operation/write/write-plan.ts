/** Plans a write: checks it against the integration, the installation and the provider, and maps its records. */
import {
  isComplete,
  type NamedTarget,
  type WriteTarget,
} from '../../../../database/statements/hot/write-target.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import {
  DomainError,
  describeIssue,
  type Issue,
  invalidInput,
  notFound,
  unprocessable,
} from '../../../../kernel/errors.ts';
import { enumValue, joinTexts, text } from '../../../../kernel/text.ts';
import type { Provider, ProviderCapability } from '../../../../providers/contract.ts';
import { resolveObjectName } from '../../../../providers/object-support.ts';
import type { Call, RowServices } from '../../../access/call.ts';
import { describeMissingProvider } from '../../../access/catalog.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { sortJsonMembers } from '../../../base/storable-json.ts';
import { isConsentPending } from '../../../connections/connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../../connections/connection/token/token.ts';
import { listCapabilities } from '../../../connections/provider/provider.ts';
import {
  type ConfigContent,
  readConfigContent,
} from '../../../integrations/installation/installation-config.ts';
import { findContent, findLatestContent } from '../../../integrations/integration/content-cache.ts';
import type {
  IntegrationContent,
  WriteObject,
} from '../../../integrations/integration/integration-content.ts';
import {
  createMappingRules,
  type MappedRecord,
  mapRecord,
  type UnknownFields,
} from './record-mapping.ts';
import { type InputRecord, listInputRecords, type WriteInput } from './write-input.ts';
import type { WriteEntry } from './write-task.ts';

export interface WritePlan {
  target: WriteTarget;
  /** The provider's name of the object. */
  objectName: string;
  /** The records to send, in the order of the input. */
  entries: Omit<WriteEntry, 'operationId' | 'outcome'>[];
  /** Distinct names of fields that got the config's defaults. */
  defaults: string[];
}

interface WritePlanOptions {
  target: NamedTarget;
  unknownFields: UnknownFields;
}

/**
 * Throws NOT_FOUND without an installation, BAD_USER_INPUT for invalid records, and UNPROCESSABLE if the installation or
 * the provider does not support the write.
 */
export async function planWrite(
  call: Call,
  input: WriteInput,
  { target, unknownFields }: WritePlanOptions,
): Promise<WritePlan> {
  const { integration, group, installation } = target;
  const content = await getContent(call, integration);
  const config = installation && (await getConfig(call, installation));
  const catalog = await call.catalogs.getOfProject(integration.projectId);
  const provider = catalog.findWithModule(integration.provider, content.module);
  const object =
    findWriteObject(content, input.objectName) ??
    findWriteObject(content, resolveObjectName(provider, input.objectName));
  const choice = config?.write.find(({ objectName }) => objectName === object?.objectName);
  const { type, objectName } = input;
  const write = { type, objectName, unknownFields };
  const rules = createMappingRules(content, { config, object }, write);
  const records = listInputRecords(input);
  const mappedRecords = records.map((record) => mapRecord(record, rules));
  const mappingIssues = mappedRecords.flatMap(({ issues }) => issues);
  const issues = [...listUnknownIssues(input, { group, object }), ...mappingIssues];
  const conflicts = [
    ...(object && config ? listConfigIssues(input, choice) : []),
    ...listProviderIssues(input, records, provider ?? integration.provider),
  ];
  if (issues.length > 0) throw invalidInput([...issues, ...conflicts]);
  if (!object) throw new Error('Bug: write plan without an object.');
  if (!isComplete(target)) {
    const detail = `The group ${input.groupRef} has not installed ${integration.name}.`;
    throw new DomainError('NOT_FOUND', detail);
  }
  if (conflicts.length > 0) throw createRefusal(conflicts);
  if (await isConsentPending(call, target.connection)) throw unprocessable(AWAITS_CONSENT);
  return {
    target,
    objectName: object.objectName,
    entries: mappedRecords.map(toEntry),
    defaults: [...new Set(mappedRecords.flatMap(({ defaults }) => defaults))],
  };
}

function toEntry(
  { record, associations, ifEmpty, omitted }: MappedRecord,
  position: number,
): WritePlan['entries'][number] {
  return {
    position,
    record: sortJsonMembers(record),
    associations: associations ? sortJsonMembers(associations) : null,
    ifEmpty: ifEmpty.length > 0 ? ifEmpty : null,
    omittedFields: omitted.length > 0 ? omitted : null,
    expected: null,
  };
}

function* listUnknownIssues(
  { groupRef, objectName }: WriteInput,
  { group, object }: { group: unknown; object: unknown },
): Generator<Issue> {
  if (!group) {
    yield createInputIssue(['groupRef'], 'is not a group of the project.', groupRef);
  }
  if (!object) {
    const detail = 'is not an object that the integration writes.';
    yield createInputIssue(['objectName'], detail, objectName);
  }
}

async function getContent({ database }: RowServices, integration: Row<'Integration'>) {
  const content = await findLatestContent(database, integration);
  if (!content) throw notFound('Integration', integration.id);
  return content;
}

async function getConfig({ database }: RowServices, installation: Row<'Installation'>) {
  const config = await findContent(database, 'InstallationConfig', {
    projectId: installation.projectId,
    id: installation.configId,
  });
  if (!config) throw notFound('Installation', installation.id);
  return readConfigContent(config);
}

/** Finds the object by the provider's name, or else by the mapped name of the read object. */
function findWriteObject({ read, write }: IntegrationContent, name: string): WriteObject | null {
  const objects = write?.objects ?? [];
  const mappedObjectName = read?.objects.find(({ mapToName }) => mapToName === name)?.objectName;
  return (
    objects.find(({ objectName }) => objectName === name) ??
    objects.find(({ objectName }) => objectName === mappedObjectName) ??
    null
  );
}

function* listConfigIssues(
  { type, objectName }: WriteInput,
  choice: ConfigContent['write'][number] | undefined,
): Generator<Issue> {
  if (!choice) {
    const detail = 'is not written by the installation.';
    yield createInputIssue(['objectName'], detail, objectName);
  } else if (type === 'DELETE' && !choice.deletionEnabled) {
    const detail = 'is not enabled for the object in the config of the installation.';
    yield createInputIssue(['type'], detail, type);
  }
}

function* listProviderIssues(
  input: WriteInput,
  records: readonly InputRecord[],
  /** The name of a provider that can't be used. */
  provider: Provider | string,
): Generator<Issue> {
  if (typeof provider === 'string') {
    const detail = `has a provider that can't be used. ${describeMissingProvider(provider)}`;
    yield createInputIssue(['integrationIdOrName'], detail);
    return;
  }
  const { displayName, features } = provider;
  const [capability, member] = getCapability(input);
  if (!listCapabilities(provider).includes(capability)) {
    yield createInputIssue([member], `is not supported by ${displayName}.`);
  }
  for (const { path, associations } of records) {
    if (!associations || features.associations) continue;
    const associationsPath = [...path.slice(0, -1), 'associations'];
    yield createInputIssue(associationsPath, `are not supported by ${displayName}.`);
  }
  if (input.headers && !features.headers) {
    yield createInputIssue(['headers'], `are not supported by ${displayName}.`);
  }
  yield* listAllOrNoneIssues(input, provider);
}

function* listAllOrNoneIssues(
  { type, batch, batchPolicy }: WriteInput,
  { displayName, features, limits }: Provider,
): Generator<Issue> {
  if (!batch || !batchPolicy?.allOrNone || type === 'DELETE') return;
  const path = ['batchPolicy', 'allOrNone'];
  if (!features.allOrNoneTypes.includes(type)) {
    const detail = text`is not possible: ${displayName} writes what it can of a batch of the type ${enumValue(type)}.`;
    yield createInputIssue(path, detail);
  } else if (batch.length > limits.batchSize) {
    const detail = `is possible for at most ${limits.batchSize} records of ${displayName}.`;
    yield createInputIssue(path, detail);
  }
}

function getCapability({ type, batch, autoBatchPolicy }: WriteInput): [ProviderCapability, string] {
  if (type === 'DELETE') return ['DELETE', 'type'];
  if (batch) return ['BATCH_WRITE', 'batch'];
  return autoBatchPolicy ? ['BATCH_WRITE', 'autoBatchPolicy'] : ['WRITE', 'type'];
}

function createRefusal(issues: Issue[]): DomainError {
  const details = joinTexts(issues.map(describeIssue), ' ');
  return new DomainError('UNPROCESSABLE', text`The write is not possible. ${details}`, { issues });
}
