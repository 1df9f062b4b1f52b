/** Plans a write: checks it against the integration, the installation and the provider, and maps its records. */
import {
  type AccountRow,
  findWriteTarget,
  type TargetKey,
  type WriteTarget,
} from '../../../database/hot/write-target.ts';
import type { Row } from '../../../database/rows.ts';
import { DomainError, type Issue, invalidInput, notFound, unprocessable } from '../../../errors.ts';
import { prefixOf } from '../../../ids.ts';
import type { Provider, ProviderCapability } from '../../../providers/contract.ts';
import { ownObjectName } from '../../../providers/object-support.ts';
import type { Call } from '../../call.ts';
import { isConsentPending } from '../../connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../connection/token/token.ts';
import { type ConfigContent, configOf } from '../../installation/installation-config.ts';
import { findContent, findLatestContent } from '../../integration/content-cache.ts';
import type { IntegrationContent, WriteObject } from '../../integration/integration-content.ts';
import { issueAt } from '../../issues.ts';
import { supportedCapabilities } from '../../provider/provider.ts';
import { sees } from '../../scope.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import { type SettledRecord, settleFields } from './field-settings.ts';
import { inheritedNames, nameFields } from './mapping.ts';
import { type InputRecord, inputRecords, type WriteInput } from './write-input.ts';

export interface WritePlan {
  installation: Row<'Installation'>;
  /** The current connection of the installation. */
  account: AccountRow | null;
  /** The module of the integration. */
  module: string | null;
  /** The provider's name of the object. */
  objectName: string;
  /** Records with the provider's field names, in the order of the input. */
  records: (Pick<InputRecord, 'record' | 'associations'> & Pick<SettledRecord, 'ifEmpty'>)[];
  /** Distinct names of fields that the mapping or the config omitted. */
  leftOut: string[];
  /** Distinct names of fields that got the config's defaults. */
  defaults: string[];
}

/**
 * Plans a write. Throws NOT_FOUND, BAD_USER_INPUT, or UNPROCESSABLE if the installation or the provider does not
 * support the write.
 */
export async function planWrite(
  call: Call,
  input: WriteInput,
  { integration, group, installation, account }: WriteTarget,
): Promise<WritePlan> {
  const content = await readContent(call, integration);
  const config = installation && (await readConfig(call, installation));
  const provider = call.catalogue.findAt(integration.provider, content.module);
  const object =
    findWriteObject(content, input.objectName) ??
    findWriteObject(content, ownObjectName(provider, input.objectName));
  const names = object && config && inheritedNames(content, config, object);
  const named = inputRecords(input).map((original) => ({
    original,
    ...nameFields(original, names),
  }));
  const issues = [
    ...unknownIssues(input, { group, object }),
    ...named.flatMap((record) => record.issues),
  ];
  const refusals = [
    ...(object && config ? configRefusals(input, object, config) : []),
    ...providerRefusals(input, provider),
  ];
  if (issues.length > 0) throw invalidInput([...issues, ...refusals]);
  if (!object) throw new Error('Bug: write plan without an object.');
  if (!installation) {
    const detail = `The group ${input.groupRef} has not installed ${integration.name}.`;
    throw new DomainError('NOT_FOUND', detail);
  }
  if (refusals.length > 0) throw refused(refusals);
  if (account && (await isConsentPending(call, account))) throw unprocessable(AWAITS_CONSENT);
  const { objectName } = object;
  const choice = config?.write.find((one) => one.objectName === objectName);
  const rules = { type: input.type, settings: choice?.fields ?? [], names };
  return {
    installation,
    account,
    module: content.module,
    objectName,
    ...settledRecords(named, rules),
  };
}

/** A record with the provider's field names, and the record of the input. */
interface NamedRecord extends ReturnType<typeof nameFields> {
  original: InputRecord;
}

function settledRecords(
  named: readonly NamedRecord[],
  rules: Parameters<typeof settleFields>[1],
): Pick<WritePlan, 'records' | 'leftOut' | 'defaults'> {
  const settled = named.map(({ record, original }) => ({
    original,
    ...settleFields(record, rules),
  }));
  return {
    records: settled.map(({ record, ifEmpty, original: { associations } }) => {
      return { record, ifEmpty, associations };
    }),
    leftOut: [...new Set([...named, ...settled].flatMap(({ leftOut }) => leftOut))],
    defaults: [...new Set(settled.flatMap(({ defaults }) => defaults))],
  };
}

function* unknownIssues(
  { groupRef, objectName }: WriteInput,
  found: { group: unknown; object: unknown },
): Generator<Issue> {
  if (!found.group) {
    yield issueAt(['input', 'groupRef'], 'is not a group of the project.', groupRef);
  }
  if (!found.object) {
    const detail = 'is not an object that the integration writes.';
    yield issueAt(['input', 'objectName'], detail, objectName);
  }
}

/** Reads the target in a project that the caller may see. Throws NOT_FOUND if it does not have the integration. */
export async function readTarget(
  { viewer, database }: Call,
  projectId: string,
  original: WriteInput,
): Promise<WriteTarget> {
  const target = await findWriteTarget(database.rows, targetKey(projectId, original));
  const visible = target && visibleTarget(viewer, target);
  if (!visible) throw notFound('Integration', original.integrationIdOrName);
  return visible;
}

function targetKey(
  projectId: string,
  { integrationIdOrName: idOrName, groupRef }: WriteInput,
): TargetKey {
  const integration = prefixOf(idOrName) === 'int' ? { id: idOrName } : { name: idOrName };
  return { projectId, integration, groupRef };
}

/** The part of the target that the viewer may see. Null if that excludes the integration. */
function visibleTarget(viewer: Viewer, target: WriteTarget): WriteTarget | null {
  if (!sees(viewer, 'Integration', target.integration)) return null;
  const isOfViewer = !target.group || sees(viewer, 'Group', target.group);
  return isOfViewer ? target : { ...target, group: null, installation: null, account: null };
}

async function readContent({ database }: Call, integration: Row<'Integration'>) {
  const content = await findLatestContent(database, integration);
  if (!content) throw notFound('Integration', integration.id);
  return content;
}

async function readConfig({ database }: Call, installation: Row<'Installation'>) {
  const config = await findContent(database, 'InstallationConfig', {
    projectId: installation.projectId,
    id: installation.configId,
  });
  if (!config) throw notFound('Installation', installation.id);
  return configOf(config);
}

/** Finds the object by the provider's name, else by the mapped name of the read object. */
function findWriteObject({ read, write }: IntegrationContent, name: string): WriteObject | null {
  const objects = write?.objects ?? [];
  const mapped = read?.objects.find(({ mapToName }) => mapToName === name)?.objectName;
  return (
    objects.find(({ objectName }) => objectName === name) ??
    objects.find(({ objectName }) => objectName === mapped) ??
    null
  );
}

function* configRefusals(
  { type, objectName: name }: WriteInput,
  { objectName }: WriteObject,
  { write }: ConfigContent,
): Generator<Issue> {
  const choice = write.find((object) => object.objectName === objectName);
  if (!choice) {
    yield issueAt(['input', 'objectName'], 'is not written by the installation.', name);
  } else if (type === 'DELETE' && !choice.deletionEnabled) {
    const detail = 'is not enabled for the object in the config of the installation.';
    yield issueAt(['input', 'type'], detail, type);
  }
}

function* providerRefusals(input: WriteInput, provider: Provider | null): Generator<Issue> {
  if (!provider) {
    yield issueAt(['input', 'integrationIdOrName'], 'has a provider that is no longer supported.');
    return;
  }
  const { displayName, takes } = provider;
  const [needed, member] = neededFor(input);
  if (!supportedCapabilities(provider).includes(needed)) {
    yield issueAt(['input', member], `is not supported by ${displayName}.`);
  }
  for (const { path, associations } of inputRecords(input)) {
    if (!associations || takes.associations) continue;
    yield issueAt([...path.slice(0, -1), 'associations'], `are not taken by ${displayName}.`);
  }
  if (input.headers && !takes.headers) {
    yield issueAt(['input', 'headers'], `are not taken by ${displayName}.`);
  }
  yield* allOrNoneRefusals(input, provider);
}

function* allOrNoneRefusals(
  { type, batch, batchPolicy }: WriteInput,
  { displayName, takes, limits }: Provider,
): Generator<Issue> {
  if (!batch || !batchPolicy?.allOrNone || type === 'DELETE') return;
  const at = ['input', 'batchPolicy', 'allOrNone'];
  if (!takes.allOrNone.includes(type)) {
    const what = `a batch of the type ${type}`;
    yield issueAt(at, `is not possible: ${displayName} writes what it can of ${what}.`);
  } else if (batch.length > limits.batchSize) {
    yield issueAt(at, `is possible for ${limits.batchSize} records of ${displayName} at most.`);
  }
}

function neededFor({ type, batch, autoBatchPolicy }: WriteInput): [ProviderCapability, string] {
  if (type === 'DELETE') return ['DELETE', 'type'];
  if (batch) return ['BATCH_WRITE', 'batch'];
  return autoBatchPolicy ? ['BATCH_WRITE', 'autoBatchPolicy'] : ['WRITE', 'type'];
}

function refused(issues: Issue[]): DomainError {
  const details = issues.map(({ name, detail }) => `${name}: ${detail}`);
  return new DomainError('UNPROCESSABLE', `The write is not possible. ${details.join(' ')}`, {
    issues,
  });
}
