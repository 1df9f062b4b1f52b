/** Validates the write choices of a config. */
import type { Issue } from '../../../../kernel/errors.ts';
import { enumValue, text } from '../../../../kernel/text.ts';
import { type Provider, supportsCapability } from '../../../../providers/contract.ts';
import { canReadByIds } from '../../../../providers/object-support.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import type { WriteConfig } from '../choice/installation-config-input.ts';

const ALWAYS_OR_NEVER = text`${enumValue('ALWAYS', 'WriteOccasion')} or ${enumValue('NEVER', 'WriteOccasion')}`;

type Path = readonly PropertyKey[];

interface ChoicesContext {
  /** The path of the choices in the input. */
  path: Path;
  content: IntegrationContent;
  /** Null if the provider is not in the catalog. */
  provider: Provider | null;
}

export function* listWriteChoiceIssues(
  choices: readonly WriteConfig[],
  { path, content, provider }: ChoicesContext,
): Generator<Issue> {
  for (const [index, choice] of choices.entries()) {
    const choicePath = [...path, index];
    yield* listDeletionIssues(choice, choicePath, provider);
    yield* listFieldNameIssues(choice, [...choicePath, 'fields'], content);
    yield* listOccasionIssues(choice, [...choicePath, 'fields'], provider);
  }
}

function* listDeletionIssues(
  { objectName, deletionEnabled }: WriteConfig,
  path: Path,
  provider: Provider | null,
): Generator<Issue> {
  if (!deletionEnabled || !provider || supportsCapability(provider, objectName, 'DELETE')) return;
  const detail = `must be false: ${provider.displayName} does not delete ${objectName}.`;
  yield createInputIssue([...path, 'deletionEnabled'], detail, true);
}

function* listFieldNameIssues(
  { objectName, fields }: WriteConfig,
  path: Path,
  content: IntegrationContent,
): Generator<Issue> {
  const spec = content.write?.objects.find((object) => object.objectName === objectName);
  if (!spec || !fields) return;
  const read = content.read?.objects.find((object) => object.objectName === objectName);
  const listedFields = [...(read?.requiredFields ?? []), ...(read?.optionalFields ?? [])];
  const names = new Set(listedFields.flatMap(({ fieldName, mapToName }) => [fieldName, mapToName]));
  const allowsAnyField = spec.valueDefaults?.allowAnyFields === true;
  for (const [index, { fieldName }] of fields.entries()) {
    if (allowsAnyField || names.has(fieldName)) continue;
    const detail = `is not a field that the integration names for ${objectName}.`;
    yield createInputIssue([...path, index, 'fieldName'], detail, fieldName);
  }
  for (const index of listRepeatedIndexes(fields.map(({ fieldName }) => fieldName))) {
    yield createInputIssue(
      [...path, index, 'fieldName'],
      'is named twice.',
      fields[index]?.fieldName,
    );
  }
}

function* listOccasionIssues(
  { objectName, fields }: WriteConfig,
  path: Path,
  provider: Provider | null,
): Generator<Issue> {
  const isUnreadable = provider !== null && !canReadByIds(provider, objectName);
  for (const [index, { writeOnCreate, writeOnUpdate }] of (fields ?? []).entries()) {
    if (writeOnCreate === 'IF_EMPTY') {
      const detail = text`must be ${ALWAYS_OR_NEVER}: a new record has no values.`;
      yield createInputIssue([...path, index, 'writeOnCreate'], detail, writeOnCreate);
    }
    if (writeOnUpdate === 'IF_EMPTY' && isUnreadable) {
      const detail = text`must be ${ALWAYS_OR_NEVER}: ${provider.displayName} can't read ${objectName} by id.`;
      yield createInputIssue([...path, index, 'writeOnUpdate'], detail, writeOnUpdate);
    }
  }
}
