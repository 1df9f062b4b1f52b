/** Validates the subscribe choices of a config. */
import type { Issue } from '../../../errors.ts';
import type { SubscribeObject } from '../../integration/integration-content.ts';
import { listDestinationIssues } from '../../integration/integration-content-check.ts';
import { createInputIssue } from '../../issues.ts';
import type { SubscribeConfig } from '../choice/subscribe-choice.ts';

type Path = readonly PropertyKey[];

interface ChoicesContext {
  /** The path of the choices in the input. */
  path: Path;
  objects: readonly SubscribeObject[];
  /** The destinations in the choices that exist. */
  destinations: ReadonlySet<string>;
}

export function* listSubscribeChoiceIssues(
  choices: readonly SubscribeConfig[],
  { path, objects, destinations }: ChoicesContext,
): Generator<Issue> {
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  for (const [index, choice] of choices.entries()) {
    const choicePath = [...path, index];
    yield* listDestinationIssues(choice.destination, [...choicePath, 'destination'], destinations);
    const spec = specs.get(choice.objectName);
    if (!spec) continue;
    yield* listEventIssues(choice, spec, choicePath);
    yield* listWatchIssues(choice, [...choicePath, 'updateEvent']);
  }
}

/**
 * Returns an issue for each choice that the integration does not offer. A config can disable the
 * integration's events but can't add events.
 */
function* listEventIssues(
  choice: SubscribeConfig,
  spec: SubscribeObject,
  path: Path,
): Generator<Issue> {
  const { objectName } = spec;
  for (const event of ['createEvent', 'updateEvent', 'deleteEvent'] as const) {
    if (choice[event]?.enabled !== 'ALWAYS' || spec[event] !== null) continue;
    const detail = `must be NEVER: the integration does not subscribe to it for ${objectName}.`;
    yield createInputIssue([...path, event, 'enabled'], detail, 'ALWAYS');
  }
  const { inheritFieldsAndMapping } = choice;
  if (inheritFieldsAndMapping != null && inheritFieldsAndMapping !== spec.inheritFieldsAndMapping) {
    const detail = `must be ${spec.inheritFieldsAndMapping}, as in the integration.`;
    yield createInputIssue([...path, 'inheritFieldsAndMapping'], detail, inheritFieldsAndMapping);
  }
  for (const [index, name] of (choice.otherEvents ?? []).entries()) {
    if (spec.otherEvents.includes(name)) continue;
    const detail = `is not an event that the integration has for ${objectName}.`;
    yield createInputIssue([...path, 'otherEvents', index], detail, name);
  }
}

function* listWatchIssues({ updateEvent }: SubscribeConfig, path: Path): Generator<Issue> {
  if (updateEvent?.watchFieldsAuto == null || !updateEvent.requiredWatchFields?.length) return;
  const detail = 'must not be combined with watchFieldsAuto.';
  yield createInputIssue([...path, 'requiredWatchFields'], detail);
}
