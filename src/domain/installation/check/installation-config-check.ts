/** Validates an installation's config against the revision of its integration. */
import type { Transaction } from '../../../database/transaction.ts';
import { ISSUES_MAX, type Issue } from '../../../errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { Call } from '../../call.ts';
import { lockDestinations } from '../../event/destination-uses.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { listRepeatedIndexes } from '../../integration/integration-content-check.ts';
import { createInputIssue } from '../../issues.ts';
import type { ConfigChoices } from '../installation-config.ts';
import { listMissingConfigIssues, listReadChoiceIssues } from './read-choice-check.ts';
import { listSubscribeChoiceIssues } from './subscribe-choice-check.ts';
import { listWriteChoiceIssues } from './write-choice-check.ts';

type Path = readonly PropertyKey[];

interface ConfigAbout {
  content: IntegrationContent;
  /** Null if the provider is not in the catalogue. */
  provider: Provider | null;
  /** The destinations in the config that exist. */
  destinations: ReadonlySet<string>;
}

const path = ['input', 'config'];
const PROXY_IS_OFF = 'must be false: the integration does not forward requests.';

/**
 * Lists the issues of a config, at most ISSUES_MAX. Locks the destinations in the config until the transaction ends.
 */
export async function listConfigIssues(
  { catalogue, tx }: Pick<Call, 'catalogue'> & { tx: Transaction },
  config: ConfigChoices | null | undefined,
  { projectId, content }: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (!config) return [];
  const destinations = await lockDestinations(tx, projectId, listDestinationsOfConfig(config));
  const provider = catalogue.findAt(content.provider, content.module);
  return [...listConfigRuleIssues(config, { content, provider, destinations }).take(ISSUES_MAX)];
}

/**
 * Lists the issues of a new installation's config. Without a config, the installation reads and writes everything in
 * the integration.
 */
export async function listNewConfigIssues(
  services: Pick<Call, 'catalogue'> & { tx: Transaction },
  config: ConfigChoices | null | undefined,
  context: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (config) return listConfigIssues(services, config, context);
  return [...listMissingConfigIssues(path, context.content.read?.objects ?? []).take(ISSUES_MAX)];
}

/** Lists the issues of a config without queries. A stored config has no `provider`, which only inputs have. */
export function* listConfigRuleIssues(
  config: ConfigChoices & { provider?: string | null },
  context: ConfigAbout,
): Generator<Issue> {
  const { content, provider, destinations } = context;
  const read = content.read?.objects ?? [];
  const write = content.write?.objects ?? [];
  const subscribe = content.subscribe?.objects ?? [];
  yield* listObjectIssues(config.read ?? [], [...path, 'read'], read);
  yield* listObjectIssues(config.write ?? [], [...path, 'write'], write);
  yield* listObjectIssues(config.subscribe ?? [], [...path, 'subscribe'], subscribe);
  if (config.provider != null && config.provider !== content.provider) {
    const detail = `must be ${content.provider}, the provider of the integration.`;
    yield createInputIssue([...path, 'provider'], detail, config.provider);
  }
  if (config.proxy?.enabled && !content.proxy?.enabled) {
    yield createInputIssue([...path, 'proxy', 'enabled'], PROXY_IS_OFF, true);
  }
  const choices = { path: [...path, 'read'], objects: read, destinations, provider };
  yield* listReadChoiceIssues(config.read ?? [], choices);
  yield* listWriteChoiceIssues(config.write ?? [], { path: [...path, 'write'], content, provider });
  const events = { path: [...path, 'subscribe'], objects: subscribe, destinations };
  yield* listSubscribeChoiceIssues(config.subscribe ?? [], events);
}

export function listDestinationsOfConfig({ read, subscribe }: ConfigChoices): string[] {
  const choices = [...(read ?? []), ...(subscribe ?? [])];
  return [...new Set(choices.flatMap(({ destination }) => destination ?? []))];
}

function* listObjectIssues(
  choices: readonly { objectName: string }[],
  path: Path,
  objects: readonly { objectName: string }[],
): Generator<Issue> {
  const names = new Set(objects.map(({ objectName }) => objectName));
  const repeatedIndexes = new Set(listRepeatedIndexes(choices.map(({ objectName }) => objectName)));
  for (const [index, { objectName }] of choices.entries()) {
    const namePath = [...path, index, 'objectName'];
    const detail = "is not an object of the integration's latest revision.";
    if (!names.has(objectName)) yield createInputIssue(namePath, detail, objectName);
    if (repeatedIndexes.has(index)) yield createInputIssue(namePath, 'is named twice.', objectName);
  }
}
