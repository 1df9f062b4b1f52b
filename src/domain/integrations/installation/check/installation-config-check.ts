/** Validates an installation's config against the revision of its integration. */
import type { Transaction } from '../../../../database/transactions/transaction.ts';
import { ISSUES_MAX, type Issue } from '../../../../kernel/errors.ts';
import { enumValue, member, text } from '../../../../kernel/text.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { findModule } from '../../../../providers/modules.ts';
import type { ProjectCall } from '../../../access/call.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import {
  findVariable,
  toInputMember,
} from '../../../connections/connection/session/account-address.ts';
import { lockDestinations } from '../../../events/destination-uses.ts';
import type { IntegrationContent, SubscribeObject } from '../../integration/integration-content.ts';
import { listDestinationIssues } from '../../integration/integration-content-check.ts';
import type { SubscribeConfig } from '../choice/subscribe-choice.ts';
import type { ConfigChoices } from '../installation-config.ts';
import { listMissingConfigIssues, listReadChoiceIssues } from './read-choice-check.ts';
import { listWriteChoiceIssues } from './write-choice-check.ts';

type Path = readonly PropertyKey[];

interface ConfigContext {
  content: IntegrationContent;
  /** Null if the provider is not in the catalog. */
  provider: Provider | null;
  /** The destinations in the config that exist. */
  destinations: ReadonlySet<string>;
}

const CONFIG_PATH = ['config'];

/**
 * Lists the issues of a config, at most ISSUES_MAX. Locks the destinations in the config until the transaction ends.
 */
export async function listConfigIssues(
  { catalog, tx }: Pick<ProjectCall, 'catalog'> & { tx: Transaction },
  config: ConfigChoices | null | undefined,
  { projectId, content }: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (!config) return [];
  const destinations = await lockDestinations(tx, projectId, listDestinationsOfConfig(config));
  const provider = catalog.findWithModule(content.provider, content.module);
  return [...listConfigRuleIssues(config, { content, provider, destinations }).take(ISSUES_MAX)];
}

/**
 * Lists the issues of a new installation's config. Without a config, the installation reads and writes everything in
 * the integration.
 */
export async function listNewConfigIssues(
  services: Pick<ProjectCall, 'catalog'> & { tx: Transaction },
  config: ConfigChoices | null | undefined,
  context: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (config) return listConfigIssues(services, config, context);
  return [
    ...listMissingConfigIssues(CONFIG_PATH, context.content.read?.objects ?? []).take(ISSUES_MAX),
  ];
}

/** Lists the issues of a config without queries. A stored config has no `provider`: only inputs have it. */
export function* listConfigRuleIssues(
  config: ConfigChoices & { provider?: string | null },
  { content, provider, destinations }: ConfigContext,
): Generator<Issue> {
  const readPath = [...CONFIG_PATH, 'read'];
  const writePath = [...CONFIG_PATH, 'write'];
  const subscribePath = [...CONFIG_PATH, 'subscribe'];
  const readObjects = content.read?.objects ?? [];
  const writeObjects = content.write?.objects ?? [];
  const subscribeObjects = content.subscribe?.objects ?? [];
  yield* listObjectIssues(config.read ?? [], readPath, readObjects);
  yield* listObjectIssues(config.write ?? [], writePath, writeObjects);
  yield* listObjectIssues(config.subscribe ?? [], subscribePath, subscribeObjects);
  if (config.provider != null && config.provider !== content.provider) {
    const detail = `must be ${content.provider}, the provider of the integration.`;
    yield createInputIssue([...CONFIG_PATH, 'provider'], detail, config.provider);
  }
  if (config.proxy?.enabled && !content.proxy?.enabled) {
    const detail = 'must be false: the integration does not forward requests.';
    yield createInputIssue([...CONFIG_PATH, 'proxy', 'enabled'], detail, true);
  }
  yield* listReadChoiceIssues(config.read ?? [], {
    path: readPath,
    objects: readObjects,
    destinations,
    provider,
  });
  yield* listWriteChoiceIssues(config.write ?? [], { path: writePath, content, provider });
  yield* listSubscribeChoiceIssues(config.subscribe ?? [], {
    path: subscribePath,
    objects: subscribeObjects,
    destinations,
  });
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

/**
 * Returns an issue for each value that the module requires and the connection lacks. Returns none without a connection,
 * which is reported elsewhere.
 */
export async function listModuleIssues(
  { catalog, tx }: Pick<ProjectCall, 'catalog'> & { tx: Pick<Transaction, 'connection'> },
  { provider: providerName, module: moduleName }: IntegrationContent,
  { projectId, connectionId }: { projectId: string; connectionId: string | null },
): Promise<Issue[]> {
  const provider = catalog.find(providerName);
  const module = provider && findModule(provider, moduleName);
  if (!module?.inputs?.length || connectionId === null) return [];
  const connection = await tx.connection.findUnique({
    where: { projectId_id: { projectId, id: connectionId } },
    select: { providerWorkspaceRef: true, providerMetadata: true },
  });
  return module.inputs
    .filter(
      ({ name, optional }) => !optional && (!connection || findVariable(name, connection) === null),
    )
    .map((input) => {
      const detail = `is a connection that lacks ${toInputMember(input.name)}, which the module ${module.name} needs. Set it with updateConnection.`;
      return createInputIssue(['connectionId'], detail, connectionId);
    });
}

interface ChoicesContext {
  /** The path of the choices in the input. */
  path: Path;
  objects: readonly SubscribeObject[];
  /** The destinations in the choices that exist. */
  destinations: ReadonlySet<string>;
}

function* listSubscribeChoiceIssues(
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
    const detail = text`must be ${enumValue('NEVER', 'EventChoice')}: the integration does not subscribe to it for ${objectName}.`;
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
  const detail = text`must not be combined with ${member(...path, 'watchFieldsAuto')}.`;
  yield createInputIssue([...path, 'requiredWatchFields'], detail);
}
