/** Validates the read choices of a config. */
import type { Issue } from '../../../errors.ts';
import { type Provider, supportsCapability } from '../../../providers/contract.ts';
import type { ReadObject } from '../../integration/integration-content.ts';
import {
  destinationIssues,
  listRepeatedIndexes,
} from '../../integration/integration-content-check.ts';
import { createInputIssue } from '../../issues.ts';
import { dynamicMappingIssues } from '../choice/dynamic-mapping.ts';
import { fieldFilterIssues } from '../choice/field-filter.ts';
import { listUnmapped, mappableNames } from '../choice/mapped-names.ts';
import { valueMappingIssues } from '../choice/value-mapping.ts';
import type { ReadChoice } from '../installation-config.ts';

type Path = readonly PropertyKey[];

interface ChoicesAbout {
  /** The path of the choices in the input. */
  path: Path;
  objects: readonly ReadObject[];
  /** The destinations in the choices that exist. */
  destinations: ReadonlySet<string>;
  /** Null if the provider is not in the catalogue. */
  provider: Provider | null;
}

export function* readChoiceIssues(
  choices: readonly ReadChoice[],
  { path, objects, destinations, provider }: ChoicesAbout,
): Generator<Issue> {
  yield* alwaysReadIssues(choices, path, objects);
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  for (const [index, choice] of choices.entries()) {
    const choicePath = [...path, index];
    yield* destinationIssues(choice.destination, [...choicePath, 'destination'], destinations);
    yield* filterIssues(choice, choicePath, provider);
    yield* valueMappingIssues(choice.valueMappings ?? [], [...choicePath, 'valueMappings']);
    const spec = specs.get(choice.objectName);
    if (!spec) continue;
    yield* selectionIssues(choice, spec, choicePath);
    yield* selectsAllIssues(choice, spec, { path: choicePath, provider });
    yield* mappingIssues(choice, spec, choicePath);
    yield* dynamicMappingIssues(choice.dynamicMappings ?? [], spec, [
      ...choicePath,
      'dynamicMappings',
    ]);
    yield* unmappedIssues(choice, spec, [...choicePath, 'fieldMappings']);
  }
}

/** An absent config maps nothing, so required mappings without a default need a config. */
export function* withoutConfigIssues(path: Path, objects: readonly ReadObject[]): Generator<Issue> {
  for (const spec of objects) {
    for (const name of listUnmapped(spec, {})) {
      const { objectName } = spec;
      yield createInputIssue(
        path,
        `must be given: ${objectName} requires that it maps ${name} to a field.`,
      );
    }
  }
}

function* unmappedIssues(choice: ReadChoice, spec: ReadObject, path: Path): Generator<Issue> {
  for (const name of listUnmapped(spec, choice)) {
    yield createInputIssue(path, `must map ${name} to a field: ${spec.objectName} requires it.`);
  }
}

/** Objects with `enabled: always` must be in the config and can't be disabled. */
function* alwaysReadIssues(
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

function* selectionIssues(choice: ReadChoice, spec: ReadObject, path: Path): Generator<Issue> {
  const selected = choice.selectedFields ?? [];
  const fields = [...spec.requiredFields, ...spec.optionalFields];
  const names = new Set(fields.map(({ fieldName }) => fieldName));
  const twice = new Set(listRepeatedIndexes(selected));
  for (const [index, fieldName] of selected.entries()) {
    const fieldPath = [...path, 'selectedFields', index];
    if (spec.optionalFieldsAuto !== 'all' && !names.has(fieldName)) {
      yield createInputIssue(
        fieldPath,
        `is not a field that ${spec.objectName} is read with.`,
        fieldName,
      );
    }
    if (twice.has(index)) yield createInputIssue(fieldPath, 'is named twice.', fieldName);
  }
}

function* mappingIssues(choice: ReadChoice, spec: ReadObject, path: Path): Generator<Issue> {
  const mappings = choice.fieldMappings ?? [];
  const names = mappableNames(
    [...spec.requiredFields, ...spec.optionalFields],
    choice.dynamicMappings,
  );
  const twice = new Set(listRepeatedIndexes(mappings.map(({ mapToName }) => mapToName)));
  for (const [index, { fieldName, mapToName, ...others }] of mappings.entries()) {
    const mappingPath = [...path, 'fieldMappings', index];
    for (const member of ['default', 'prompt'] as const) {
      if (others[member] == null) continue;
      yield createInputIssue(
        [...mappingPath, member],
        'must be left out: the integration says it.',
        others[member],
      );
    }
    if (fieldName == null) yield createInputIssue([...mappingPath, 'fieldName'], 'must be given.');
    if (mapToName == null) {
      yield createInputIssue([...mappingPath, 'mapToName'], 'must be given.');
    } else if (!names.has(mapToName)) {
      const detail = `is not a field that ${spec.objectName} leaves to be mapped.`;
      yield createInputIssue([...mappingPath, 'mapToName'], detail, mapToName);
    }
    if (twice.has(index))
      yield createInputIssue([...mappingPath, 'mapToName'], 'is mapped twice.', mapToName);
  }
}

function* filterIssues(
  { objectName, fieldFilters, backfill }: ReadChoice,
  path: Path,
  provider: Provider | null,
): Generator<Issue> {
  const filtersPath = [...path, 'fieldFilters'];
  yield* fieldFilterIssues(fieldFilters ?? [], { path: filtersPath, provider, objectName });
  const inBackfill = [...path, 'backfill', 'fieldFilters'];
  yield* fieldFilterIssues(backfill?.fieldFilters ?? [], {
    path: inBackfill,
    provider,
    objectName,
  });
}

/** Some providers do not report the fields of an account, so all fields can't be selected there. */
function* selectsAllIssues(
  { objectName, selectedFieldsAuto }: ReadChoice,
  { optionalFieldsAuto }: ReadObject,
  { path, provider }: { path: Path; provider: Provider | null },
): Generator<Issue> {
  if (selectedFieldsAuto == null || optionalFieldsAuto !== 'all' || !provider) return;
  if (supportsCapability(provider, objectName, 'METADATA')) return;
  const detail = `must be left out: ${provider.displayName} does not tell the fields of ${objectName}.`;
  yield createInputIssue([...path, 'selectedFieldsAuto'], detail, selectedFieldsAuto);
}
