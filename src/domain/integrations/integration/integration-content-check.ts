/** Checks the rules of an integration's content that depend on the catalog or the project. */
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { ISSUES_MAX, type Issue } from '../../../kernel/errors.ts';
import { joinTexts, member, text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import { applyModule } from '../../../providers/modules.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import type { ProjectCall } from '../../access/call.ts';
import { createInputIssue } from '../../base/issues.ts';
import { listRepeatedIndexes } from '../../base/repeats.ts';
import { lockDestinations } from '../../events/destination-uses.ts';
import { listCapabilityIssues, listContentModuleIssues } from './integration-capability-check.ts';
import type { IntegrationContent } from './integration-content.ts';
import { replaceAliases } from './normalized-content.ts';

type Path = readonly PropertyKey[];

interface ContentContext {
  /** The path of the content in the input. */
  path: Path;
  /** The integration's name and provider. */
  name: string;
  provider: Pick<Provider, 'name' | 'objects'>;
  /** The name of the provider or module that has the objects, for messages. */
  objectOwner: string;
  /** The destinations in the content that exist. */
  destinations: ReadonlySet<string>;
}

/** A context with the name of the provider, which may be unknown to the catalog. */
type NamedContext = Pick<ContentContext, 'path' | 'name'> & { provider: string };

/**
 * Lists the issues of the content, at most ISSUES_MAX. Locks the destinations in the content until the transaction
 * ends.
 */
export async function listContentIssues(
  { catalog, tx }: Pick<ProjectCall, 'catalog'> & { tx: Transaction },
  content: IntegrationContent,
  context: NamedContext & { projectId: string },
): Promise<Issue[]> {
  const names = listNamedDestinations(content);
  const destinations = await lockDestinations(tx, context.projectId, names);
  return listIssuesWithDestinations({ catalog }, content, { ...context, destinations });
}

/** Lists the issues of the content, at most ISSUES_MAX, in a project with these destinations. */
export function listIssuesWithDestinations(
  { catalog }: Pick<ProjectCall, 'catalog'>,
  content: IntegrationContent,
  context: NamedContext & Pick<ContentContext, 'destinations'>,
): Issue[] {
  const { path } = context;
  const wholeProvider = catalog.find(context.provider);
  // Without modules, the capabilities of a provider do not depend on the content's module.
  const module = wholeProvider?.modules ? content.module : null;
  const moduleProvider = wholeProvider && applyModule(wholeProvider, module ?? null);
  // `listProviderIssues` reports an unknown provider, which the content's provider need not equal.
  const provider = moduleProvider ?? { name: content.provider };
  const objectOwner = module
    ? `the module ${module}`
    : (moduleProvider?.displayName ?? context.provider);
  const contentWithoutAliases = replaceAliases(content, wholeProvider);
  return [
    ...(wholeProvider ? listContentModuleIssues(content, path, wholeProvider) : []),
    ...listSameObjectIssues(content, path, moduleProvider),
    ...listContentRuleIssues(contentWithoutAliases, { ...context, provider, objectOwner }),
    ...(moduleProvider ? listCapabilityIssues(contentWithoutAliases, path, moduleProvider) : []),
  ].slice(0, ISSUES_MAX);
}

/**
 * Returns an issue for each object that occurs twice: in one list, or once by the provider's name and once by
 * an alias.
 */
function* listSameObjectIssues(
  content: Pick<IntegrationContent, 'read' | 'write' | 'subscribe'>,
  path: Path,
  provider: Pick<Provider, 'objectAliases'> | null,
): Generator<Issue> {
  const firstNames = new Map<string, string>();
  for (const section of ['read', 'write', 'subscribe'] as const) {
    const listedNames = new Set<string>();
    for (const [index, { objectName }] of (content[section]?.objects ?? []).entries()) {
      const providerName = resolveObjectName(provider, objectName);
      const firstName = firstNames.get(providerName) ?? objectName;
      const namePath = [...path, section, 'objects', index, 'objectName'];
      if (firstName !== objectName) {
        const detail = `is the same object as ${firstName}. Use either ${firstName} or ${objectName}.`;
        yield createInputIssue(namePath, detail, objectName);
      } else if (listedNames.has(providerName)) {
        yield createInputIssue(namePath, 'is named twice.', objectName);
      }
      firstNames.set(providerName, firstName);
      listedNames.add(providerName);
    }
  }
}

/** Lists the issues of single members. The objects of the content must have the provider's names, not aliases. */
export function* listContentRuleIssues(
  content: IntegrationContent,
  context: ContentContext,
): Generator<Issue> {
  const { path, name, provider } = context;
  if (content.name !== name) {
    const detail = `must be the integration's name, ${name}.`;
    yield createInputIssue([...path, 'name'], detail, content.name);
  }
  if (content.provider !== provider.name) {
    const detail = `must be the integration's provider, ${provider.name}.`;
    yield createInputIssue([...path, 'provider'], detail, content.provider);
  }
  if (!doesAnything(content)) {
    const sections = ['read', 'write', 'subscribe', 'proxy'].map((name) => member(...path, name));
    const detail = text`does nothing. Set ${joinTexts(sections, ', ')} or ${member(...path, 'watchSchema')}.`;
    yield createInputIssue(path, detail);
  }
  yield* listReadIssues(content, context);
  yield* listWriteIssues(content, context);
  yield* listSubscribeIssues(content, context);
  yield* listDestinationIssues(
    content.watchSchema?.destination,
    [...path, 'watchSchema', 'destination'],
    context.destinations,
  );
}

/** Lists the destinations in the content, without duplicates. */
export function listNamedDestinations({
  read,
  subscribe,
  watchSchema,
}: IntegrationContent): string[] {
  const objects = [...(read?.objects ?? []), ...(subscribe?.objects ?? [])];
  const members = [...objects, ...(watchSchema ? [watchSchema] : [])];
  return [...new Set(members.flatMap(({ destination }) => destination ?? []))];
}

export function* listDestinationIssues(
  name: string | null | undefined,
  path: Path,
  destinations: ReadonlySet<string>,
): Generator<Issue> {
  if (name != null && !destinations.has(name)) {
    yield createInputIssue(path, 'is not a destination of the project.', name);
  }
}

function* listObjectNameIssues(
  objects: readonly { objectName: string }[],
  path: Path,
  { provider, objectOwner }: ContentContext,
): Generator<Issue> {
  for (const [index, { objectName }] of objects.entries()) {
    if (provider.objects && !provider.objects.includes(objectName)) {
      const detail = `is not an object of ${objectOwner}, which has ${provider.objects.join(', ')}.`;
      yield createInputIssue([...path, index, 'objectName'], detail, objectName);
    }
  }
}

function* listReadIssues(content: IntegrationContent, context: ContentContext): Generator<Issue> {
  const path = [...context.path, 'read', 'objects'];
  const objects = content.read?.objects ?? [];
  yield* listObjectNameIssues(objects, path, context);
  // Requests may use the mapped name or the provider's name, so a mapped name must differ from all names of other objects.
  const names = new Set(objects.map(({ objectName }) => objectName));
  const duplicateNames = new Set(listRepeatedIndexes(objects.map(({ mapToName }) => mapToName)));
  for (const [index, object] of objects.entries()) {
    const { objectName, mapToName } = object;
    const isOtherName = mapToName != null && mapToName !== objectName && names.has(mapToName);
    if (duplicateNames.has(index) || isOtherName) {
      yield createInputIssue([...path, index, 'mapToName'], "is another object's name.", mapToName);
    }
    const destinationPath = [...path, index, 'destination'];
    yield* listDestinationIssues(object.destination, destinationPath, context.destinations);
  }
}

function* listWriteIssues(content: IntegrationContent, context: ContentContext): Generator<Issue> {
  const path = [...context.path, 'write', 'objects'];
  const objects = content.write?.objects ?? [];
  const readNames = listReadNames(content);
  yield* listObjectNameIssues(objects, path, context);
  for (const [index, { objectName, inheritMapping }] of objects.entries()) {
    if (!inheritMapping || readNames.has(objectName)) continue;
    const readObjects = member(...context.path, 'read', 'objects');
    const detail = text`needs ${objectName} in ${readObjects}, whose mapping it uses.`;
    yield createInputIssue([...path, index, 'inheritMapping'], detail, true);
  }
}

function listReadNames({ read }: IntegrationContent): ReadonlySet<string> {
  return new Set((read?.objects ?? []).map(({ objectName }) => objectName));
}

function doesAnything({ read, write, subscribe, proxy, watchSchema }: IntegrationContent): boolean {
  const sections = [read, write, subscribe];
  const hasObjects = sections.some((section) => section?.objects.length);
  return hasObjects || !!proxy?.enabled || !!watchSchema;
}

function* listSubscribeIssues(
  content: IntegrationContent,
  context: ContentContext,
): Generator<Issue> {
  const path = [...context.path, 'subscribe', 'objects'];
  const objects = content.subscribe?.objects ?? [];
  const readNames = listReadNames(content);
  yield* listObjectNameIssues(objects, path, context);
  for (const [index, object] of objects.entries()) {
    const objectPath = [...path, index];
    const destinationPath = [...objectPath, 'destination'];
    yield* listDestinationIssues(object.destination, destinationPath, context.destinations);
    if (object.inheritFieldsAndMapping && !readNames.has(object.objectName)) {
      const readObjects = member(...context.path, 'read', 'objects');
      const inherits = member(...objectPath, 'inheritFieldsAndMapping');
      const detail = text`must also be listed in ${readObjects}, because ${inherits} is set.`;
      yield createInputIssue([...objectPath, 'objectName'], detail, object.objectName);
    }
  }
}
