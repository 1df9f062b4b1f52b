/** Checks the rules of an integration's content that depend on the catalogue or the project. */
import type { Transaction } from '../../database/transaction.ts';
import { ISSUES_MAX, type Issue } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import { applyModule } from '../../providers/modules.ts';
import { resolveObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import { lockDestinations } from '../event/destination-uses.ts';
import { createInputIssue } from '../issues.ts';
import { listCapabilityIssues, listContentModuleIssues } from './integration-capability-check.ts';
import type { IntegrationContent } from './integration-content.ts';
import { hasRecordEvents } from './integration-content-input.ts';
import { replaceAliases } from './normalized-content.ts';

type Path = readonly PropertyKey[];

interface ContentAbout {
  /** The path of the content in the input. */
  path: Path;
  /** The integration's name and provider. */
  name: string;
  provider: Pick<Provider, 'name' | 'objects'>;
  /** The destinations in the content that exist. */
  destinations: ReadonlySet<string>;
}

/**
 * Lists the issues of the content, at most ISSUES_MAX. Locks the destinations in the content until the transaction
 * ends.
 */
export async function listContentIssues(
  { catalogue, tx }: Pick<Call, 'catalogue'> & { tx: Transaction },
  content: IntegrationContent,
  context: NamedContent & { projectId: string },
): Promise<Issue[]> {
  const destinations = await lockDestinations(
    tx,
    context.projectId,
    listNamedDestinations(content),
  );
  return listIssuesWithDestinations({ catalogue }, content, { ...context, destinations });
}

type NamedContent = Pick<ContentAbout, 'path' | 'name'> & { provider: string };

/** Lists the issues of the content, at most ISSUES_MAX, if the project has these destinations. */
export function listIssuesWithDestinations(
  { catalogue }: Pick<Call, 'catalogue'>,
  content: IntegrationContent,
  {
    destinations,
    path,
    name,
    provider: providerName,
  }: NamedContent & Pick<ContentAbout, 'destinations'>,
): Issue[] {
  const wholeProvider = catalogue.find(providerName);
  // Without modules, the capabilities of a provider do not depend on the content's module.
  const module = wholeProvider?.modules ? content.module : null;
  const provider = wholeProvider && applyModule(wholeProvider, module ?? null);
  const context = { path, name, provider: provider ?? { name: providerName }, destinations };
  const contentWithoutAliases = replaceAliases(content, wholeProvider);
  return [
    ...(wholeProvider ? listContentModuleIssues(content, path, wholeProvider) : []),
    ...listSameObjectIssues(content, path, provider),
    ...listContentRuleIssues(contentWithoutAliases, context),
    ...(provider ? listCapabilityIssues(contentWithoutAliases, path, provider) : []),
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
  for (const part of ['read', 'write', 'subscribe'] as const) {
    const listedNames = new Set<string>();
    for (const [index, { objectName }] of (content[part]?.objects ?? []).entries()) {
      const ownName = resolveObjectName(provider, objectName);
      const first = firstNames.get(ownName) ?? objectName;
      const namePath = [...path, part, 'objects', index, 'objectName'];
      if (first !== objectName) {
        const detail = `is the object that is named ${first} before. Use either ${first} or ${objectName}.`;
        yield createInputIssue(namePath, detail, objectName);
      } else if (listedNames.has(ownName)) {
        yield createInputIssue(namePath, 'is named twice.', objectName);
      }
      firstNames.set(ownName, first);
      listedNames.add(ownName);
    }
  }
}

/**
 * Lists the issues of the content besides those of `listSameObjectIssues`. Its objects must have the
 * provider's own names.
 */
export function* listContentRuleIssues(
  content: IntegrationContent,
  context: ContentAbout,
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
    const detail =
      'has nothing to do: give objects to read, write or subscribe to, a proxy or watchSchema.';
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

/** Yields the positions of repeated values. Nulls are ignored. */
export function* listRepeatedIndexes<T>(values: Iterable<T | null | undefined>): Generator<number> {
  const knownValues = new Set<T>();
  let index = 0;
  for (const value of values) {
    if (value != null && knownValues.has(value)) yield index;
    else if (value != null) knownValues.add(value);
    index += 1;
  }
}

function* listObjectNameIssues(
  objects: readonly { objectName: string }[],
  path: Path,
  provider: ContentAbout['provider'],
): Generator<Issue> {
  for (const [index, { objectName }] of objects.entries()) {
    if (provider.objects && !provider.objects.includes(objectName)) {
      const detail = `is not an object of ${provider.name}, which has ${provider.objects.join(', ')}.`;
      yield createInputIssue([...path, index, 'objectName'], detail, objectName);
    }
  }
}

function* listReadIssues(content: IntegrationContent, context: ContentAbout): Generator<Issue> {
  const path = [...context.path, 'read', 'objects'];
  const objects = content.read?.objects ?? [];
  yield* listObjectNameIssues(objects, path, context.provider);
  // Later requests may select an object by either name, so its mapped name must differ from the names of all other
  // objects.
  const names = new Set(objects.map(({ objectName }) => objectName));
  const duplicateNames = new Set(listRepeatedIndexes(objects.map(({ mapToName }) => mapToName)));
  for (const [index, object] of objects.entries()) {
    const { objectName, mapToName } = object;
    const isNameOfAnother = mapToName != null && mapToName !== objectName && names.has(mapToName);
    if (duplicateNames.has(index) || isNameOfAnother) {
      yield createInputIssue([...path, index, 'mapToName'], "is another object's name.", mapToName);
    }
    const destinationPath = [...path, index, 'destination'];
    yield* listDestinationIssues(object.destination, destinationPath, context.destinations);
  }
}

function* listWriteIssues(content: IntegrationContent, context: ContentAbout): Generator<Issue> {
  const path = [...context.path, 'write', 'objects'];
  const objects = content.write?.objects ?? [];
  const read = listReadNames(content);
  yield* listObjectNameIssues(objects, path, context.provider);
  for (const [index, { objectName, inheritMapping }] of objects.entries()) {
    if (!inheritMapping || read.has(objectName)) continue;
    const detail = `needs ${objectName} in read.objects, whose mapping it uses.`;
    yield createInputIssue([...path, index, 'inheritMapping'], detail, true);
  }
}

function listReadNames({ read }: IntegrationContent): ReadonlySet<string> {
  return new Set((read?.objects ?? []).map(({ objectName }) => objectName));
}

function doesAnything({ read, write, subscribe, proxy, watchSchema }: IntegrationContent): boolean {
  const blocks = [read, write, subscribe];
  return blocks.some((block) => block?.objects.length) || !!proxy?.enabled || !!watchSchema;
}

function* listSubscribeIssues(
  content: IntegrationContent,
  context: ContentAbout,
): Generator<Issue> {
  const path = [...context.path, 'subscribe', 'objects'];
  const objects = content.subscribe?.objects ?? [];
  const read = listReadNames(content);
  yield* listObjectNameIssues(objects, path, context.provider);
  for (const [index, object] of objects.entries()) {
    const objectPath = [...path, index];
    yield* listDestinationIssues(
      object.destination,
      [...objectPath, 'destination'],
      context.destinations,
    );
    if (hasRecordEvents(object) && !read.has(object.objectName)) {
      const detail = `must also be listed in read.objects, because inheritFieldsAndMapping is set.`;
      yield createInputIssue([...objectPath, 'objectName'], detail, object.objectName);
    }
  }
}
