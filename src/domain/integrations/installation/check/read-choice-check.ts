/** Validates the read choices of a config. */
import type { Issue } from '../../../../kernel/errors.ts';
import { type Provider, supportsCapability } from '../../../../providers/contract.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import type { ReadObject } from '../../integration/integration-content.ts';
import { listDestinationIssues } from '../../integration/integration-content-check.ts';
import { listDynamicMappingIssues } from '../choice/dynamic-mapping.ts';
import { listFieldFilterIssues } from '../choice/field-filter.ts';
import { listMappableNames, listUnmappedNames } from '../choice/mapped-names.ts';
import { listValueMappingIssues } from '../choice/value-mapping.ts';
import type { ReadChoice } from '../installation-config.ts';

type Path = readonly PropertyKey[];

interface ChoicesContext {
  /** The path of the choices in the input. */
  path: Path;
  objects: readonly ReadObject[];
  /** The destinations in the choices that exist. */
  destinations: ReadonlySet<string>;
  /** Null if the provider is not in the catalog. */
  provider: Provider | null;
}

export function* listReadChoiceIssues(
  choices: readonly ReadChoice[],
  { path, objects, destinations, provider }: ChoicesContext,
): Generator<Issue> {
  yield* listAlwaysReadIssues(choices, path, objects);
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  for (const [index, choice] of choices.entries()) {
    const choicePath = [...path, index];
    yield* listDestinationIssues(choice.destination, [...choicePath, 'destination'], destinations);
    yield* listFilterIssues(choice, choicePath, provider);
    yield* listValueMappingIssues(choice.valueMappings ?? [], [...choicePath, 'valueMappings']);
    const spec = specs.get(choice.objectName);
    if (!spec) continue;
    yield* listSelectionIssues(choice, spec, choicePath);
    yield* listSelectAllIssues(choice, spec, { path: choicePath, provider });
    yield* listMappingIssues(choice, spec, choicePath);
    const dynamicPath = [...choicePath, 'dynamicMappings'];
    yield* listDynamicMappingIssues(choice.dynamicMappings ?? [], spec, dynamicPath);
    for (const name of listUnmappedNames(spec, choice)) {
      const detail = `must map ${name} to a field: ${spec.objectName} requires it.`;
      yield createInputIssue([...choicePath, 'fieldMappings'], detail);
    }
  }
}

/** Lists the issues of an absent config. It maps nothing, so required mappings without a default need a config. */
export function* listMissingConfigIssues(
  path: Path,
  objects: readonly ReadObject[],
): Generator<Issue> {
  for (const spec of objects) {
    for (const name of listUnmappedNames(spec, {})) {
      const detail = `is required, because it must map ${name} of ${spec.objectName} to a field.`;
      yield createInputIssue(path, detail);
    }
  }
}

/** Returns an issue for each object with `enabled: always` that the config omits or disables. */
function* listAlwaysReadIssues(
  choices: readonly ReadChoice[],
  path: Path,
  objects: readonly ReadObject[],
): Generator<Issue> {
  for (const { objectName, enabled } of objects) {
    if (enabled === null) continue;
    const index = choices.findIndex((choice) => choice.objectName === objectName);
    if (index < 0) {
      yield createInputIssue(path, `must have ${objectName}, which is always read.`);
    } else if (choices[index]?.disabled) {
      const detail = `must be false: ${objectName} is always read.`;
      yield createInputIssue([...path, index, 'disabled'], detail, true);
    }
  }
}

function* listSelectionIssues(choice: ReadChoice, spec: ReadObject, path: Path): Generator<Issue> {
  const selectedFields = choice.selectedFields ?? [];
  const fields = [...spec.requiredFields, ...spec.optionalFields];
  const names = new Set(fields.map(({ fieldName }) => fieldName));
  const repeatedIndexes = new Set(listRepeatedIndexes(selectedFields));
  for (const [index, fieldName] of selectedFields.entries()) {
    const fieldPath = [...path, 'selectedFields', index];
    if (spec.optionalFieldsAuto !== 'all' && !names.has(fieldName)) {
      const detail = `is not a field that the integration offers for ${spec.objectName}.`;
      yield createInputIssue(fieldPath, detail, fieldName);
    }
    if (repeatedIndexes.has(index)) yield createInputIssue(fieldPath, 'is named twice.', fieldName);
  }
}

function* listMappingIssues(choice: ReadChoice, spec: ReadObject, path: Path): Generator<Issue> {
  const mappings = choice.fieldMappings ?? [];
  const names = listMappableNames(
    [...spec.requiredFields, ...spec.optionalFields],
    choice.dynamicMappings,
  );
  const repeatedIndexes = new Set(listRepeatedIndexes(mappings.map(({ mapToName }) => mapToName)));
  for (const [index, { fieldName, mapToName, ...integrationMembers }] of mappings.entries()) {
    const mappingPath = [...path, 'fieldMappings', index];
    for (const member of ['default', 'prompt'] as const) {
      const value = integrationMembers[member];
      if (value == null) continue;
      const detail = 'must be omitted: the integration sets it.';
      yield createInputIssue([...mappingPath, member], detail, value);
    }
    if (fieldName == null) yield createInputIssue([...mappingPath, 'fieldName'], 'is required.');
    if (mapToName == null) {
      yield createInputIssue([...mappingPath, 'mapToName'], 'is required.');
    } else if (!names.has(mapToName)) {
      const detail = `is not a name of ${spec.objectName} that customers can map.`;
      yield createInputIssue([...mappingPath, 'mapToName'], detail, mapToName);
    }
    if (repeatedIndexes.has(index)) {
      yield createInputIssue([...mappingPath, 'mapToName'], 'is mapped twice.', mapToName);
    }
  }
}

function* listFilterIssues(
  { objectName, fieldFilters, backfill }: ReadChoice,
  path: Path,
  provider: Provider | null,
): Generator<Issue> {
  const context = { provider, objectName };
  const filtersPath = [...path, 'fieldFilters'];
  yield* listFieldFilterIssues(fieldFilters ?? [], { ...context, path: filtersPath });
  const backfillPath = [...path, 'backfill', 'fieldFilters'];
  yield* listFieldFilterIssues(backfill?.fieldFilters ?? [], { ...context, path: backfillPath });
}

/** Returns an issue if the choice selects all fields although the provider does not report the fields of an account. */
function* listSelectAllIssues(
  { objectName, selectedFieldsAuto }: ReadChoice,
  { optionalFieldsAuto }: ReadObject,
  { path, provider }: { path: Path; provider: Provider | null },
): Generator<Issue> {
  if (selectedFieldsAuto == null || optionalFieldsAuto !== 'all' || !provider) return;
  if (supportsCapability(provider, objectName, 'METADATA')) return;
  const detail = `must be omitted: ${provider.displayName} does not report the fields of ${objectName}.`;
  yield createInputIssue([...path, 'selectedFieldsAuto'], detail, selectedFieldsAuto);
}
