/** What is wrong with an installation's config, compared with the revision that it chooses from. */
import type { Transaction } from '../../database/transaction.ts';
import { ISSUES_MAX, type Issue } from '../../errors.ts';
import { type Provider, supportsFor } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { holdDestinations } from '../event/destination-uses.ts';
import type { IntegrationContent, ReadObject } from '../integration/integration-content.ts';
import { destinationIssues, repeated } from '../integration/integration-content-check.ts';
import { issueAt } from '../issues.ts';
import type { ConfigInput, ReadConfigInput } from './installation-config.ts';

type Path = readonly PropertyKey[];

interface ConfigAbout {
  content: IntegrationContent;
  /** Null for one that is not known any more. */
  provider: Provider | null;
  /** The existing ones of the destinations that it names. */
  destinations: ReadonlySet<string>;
}

const path = ['input', 'config'];
const PROXY_IS_OFF = 'must be false: the integration does not forward requests.';

/** All of it, up to ISSUES_MAX. The destinations that the config names stay until the transaction ends. */
export async function listConfigIssues(
  { catalogue, tx }: Pick<Call, 'catalogue'> & { tx: Transaction },
  config: ConfigInput | null | undefined,
  { projectId, content }: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (!config) return [];
  const destinations = await holdDestinations(tx, projectId, destinationsOfConfig(config));
  const provider = catalogue.find(content.provider);
  return [...configIssues(config, { content, provider, destinations }).take(ISSUES_MAX)];
}

export function* configIssues(config: ConfigInput, about: ConfigAbout): Generator<Issue> {
  const { read, write, proxy } = about.content;
  yield* objectIssues(config.read ?? [], [...path, 'read'], read?.objects ?? []);
  yield* alwaysReadIssues(config.read ?? [], read?.objects ?? []);
  yield* objectIssues(config.write ?? [], [...path, 'write'], write?.objects ?? []);
  yield* deletionIssues(config.write ?? [], about.provider);
  if (config.provider != null && config.provider !== about.content.provider) {
    const detail = `must be ${about.content.provider}, the provider of the integration.`;
    yield issueAt([...path, 'provider'], detail, config.provider);
  }
  if (config.proxy?.enabled && !proxy?.enabled) {
    yield issueAt([...path, 'proxy', 'enabled'], PROXY_IS_OFF, true);
  }
  const specs = new Map(read?.objects.map((object) => [object.objectName, object]));
  for (const [index, choice] of (config.read ?? []).entries()) {
    const at = [...path, 'read', index];
    yield* destinationIssues(choice.destination, [...at, 'destination'], about.destinations);
    yield* backfillIssues(choice.backfill, [...at, 'backfill']);
    const spec = specs.get(choice.objectName);
    if (!spec) continue;
    yield* selectionIssues(choice, spec, at);
    yield* mappingIssues(choice, spec, at);
  }
}

function destinationsOfConfig({ read }: ConfigInput): string[] {
  return [...new Set((read ?? []).flatMap(({ destination }) => destination ?? []))];
}

function* objectIssues(
  choices: readonly { objectName: string }[],
  path: Path,
  objects: readonly { objectName: string }[],
): Generator<Issue> {
  const names = new Set(objects.map(({ objectName }) => objectName));
  const twice = new Set(repeated(choices.map(({ objectName }) => objectName)));
  for (const [index, { objectName }] of choices.entries()) {
    const at = [...path, index, 'objectName'];
    const detail = "is not an object of the integration's latest revision.";
    if (!names.has(objectName)) yield issueAt(at, detail, objectName);
    if (twice.has(index)) yield issueAt(at, 'is named twice.', objectName);
  }
}

/** What is `enabled: always` the config can neither leave out nor disable. */
function* alwaysReadIssues(
  choices: readonly ReadConfigInput[],
  objects: readonly ReadObject[],
): Generator<Issue> {
  for (const { objectName, enabled } of objects) {
    if (enabled === null) continue;
    const index = choices.findIndex((choice) => choice.objectName === objectName);
    if (index < 0) {
      yield issueAt([...path, 'read'], `must have ${objectName}, which is always read.`);
    } else if (choices[index]?.disabled) {
      const detail = `must be false: ${objectName} is always read.`;
      yield issueAt([...path, 'read', index, 'disabled'], detail, true);
    }
  }
}

function* deletionIssues(
  choices: NonNullable<ConfigInput['write']>,
  provider: Provider | null,
): Generator<Issue> {
  for (const [index, { objectName, deletionEnabled }] of choices.entries()) {
    if (!deletionEnabled || !provider || supportsFor(provider, objectName, 'DELETE')) continue;
    const detail = `must be false: ${provider.displayName} does not support DELETE for ${objectName}.`;
    yield issueAt([...path, 'write', index, 'deletionEnabled'], detail, true);
  }
}

function* selectionIssues(choice: ReadConfigInput, spec: ReadObject, path: Path): Generator<Issue> {
  const selected = choice.selectedFields ?? [];
  const fields = [...spec.requiredFields, ...spec.optionalFields];
  const names = new Set(fields.map(({ fieldName }) => fieldName));
  const twice = new Set(repeated(selected));
  for (const [index, fieldName] of selected.entries()) {
    const at = [...path, 'selectedFields', index];
    if (spec.optionalFieldsAuto !== 'all' && !names.has(fieldName)) {
      yield issueAt(at, `is not a field that ${spec.objectName} is read with.`, fieldName);
    }
    if (twice.has(index)) yield issueAt(at, 'is named twice.', fieldName);
  }
}

function* mappingIssues(choice: ReadConfigInput, spec: ReadObject, path: Path): Generator<Issue> {
  const mappings = choice.fieldMappings ?? [];
  const open = [...spec.requiredFields, ...spec.optionalFields].filter(
    ({ fieldName }) => fieldName === null,
  );
  const names = new Set(open.map(({ mapToName }) => mapToName));
  const twice = new Set(repeated(mappings.map(({ mapToName }) => mapToName)));
  for (const [index, { fieldName, mapToName }] of mappings.entries()) {
    const at = [...path, 'fieldMappings', index];
    if (fieldName == null) yield issueAt([...at, 'fieldName'], 'must be given.');
    if (mapToName == null) {
      yield issueAt([...at, 'mapToName'], 'must be given.');
    } else if (!names.has(mapToName)) {
      const detail = `is not a field that ${spec.objectName} leaves to be mapped.`;
      yield issueAt([...at, 'mapToName'], detail, mapToName);
    }
    if (twice.has(index)) yield issueAt([...at, 'mapToName'], 'is mapped twice.', mapToName);
  }
}

function* backfillIssues(backfill: ReadConfigInput['backfill'], path: Path): Generator<Issue> {
  if (backfill && (backfill.days == null) === (backfill.fullHistory == null)) {
    yield issueAt(path, 'must have exactly one of days and fullHistory.', backfill);
  }
}
