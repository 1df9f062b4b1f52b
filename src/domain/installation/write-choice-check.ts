/** What is wrong with the choices of a config for the objects to write. */
import type { Issue } from '../../errors.ts';
import { type Provider, supportsFor } from '../../providers/contract.ts';
import { issueAt } from '../issues.ts';
import type { WriteConfigInput } from './installation-config.ts';

interface ChoicesAbout {
  /** Where the choices are in the input. */
  path: readonly PropertyKey[];
  /** Null for one that is not known any more. */
  provider: Provider | null;
}

export function* writeChoiceIssues(
  choices: readonly WriteConfigInput[],
  { path, provider }: ChoicesAbout,
): Generator<Issue> {
  for (const [index, { objectName, deletionEnabled }] of choices.entries()) {
    if (!deletionEnabled || !provider || supportsFor(provider, objectName, 'DELETE')) continue;
    const detail = `must be false: ${provider.displayName} does not support DELETE for ${objectName}.`;
    yield issueAt([...path, index, 'deletionEnabled'], detail, true);
  }
}
