/** What an integration may not ask of its provider, because the provider doesn't do it. */
import type { Issue } from '../../errors.ts';
import {
  type Provider,
  type ProviderCapability,
  supportedCapabilities,
  supportsFor,
} from '../../providers/contract.ts';
import { findModule, modulesOf } from '../../providers/modules.ts';
import { issueAt } from '../issues.ts';
import type { ContentInput } from './integration-content-input.ts';

type Path = readonly PropertyKey[];
type Objects = readonly { objectName: string }[];

/**
 * Names every object that the provider does not read, write or tell events of, a proxy that it does not allow, and
 * fields that it does not describe.
 */
export function* capabilityIssues(
  { read, write, subscribe, proxy, watchSchema }: ContentInput,
  path: Path,
  provider: Provider,
): Generator<Issue> {
  const lacking = (objects: Objects, block: string, capability: ProviderCapability) =>
    objectIssues(objects, [...path, block, 'objects'], { provider, capability });
  yield* lacking(read?.objects ?? [], 'read', 'READ');
  yield* lacking(write?.objects ?? [], 'write', 'WRITE');
  const has = supportedCapabilities(provider);
  // Of a provider that is read, the installation tells that events don't come yet.
  if (!has.includes('READ')) yield* lacking(subscribe?.objects ?? [], 'subscribe', 'SUBSCRIBE');
  if (proxy?.enabled && !has.includes('PROXY')) {
    const detail = `must be false: ${provider.displayName} does not support PROXY.`;
    yield issueAt([...path, 'proxy', 'enabled'], detail, true);
  }
  if (watchSchema && !has.includes('METADATA')) {
    const detail = `must be left out: ${provider.displayName} does not describe its objects (METADATA).`;
    yield issueAt([...path, 'watchSchema'], detail, watchSchema);
  }
}

export function* moduleIssues(
  { module }: ContentInput,
  path: Path,
  provider: Provider,
): Generator<Issue> {
  if (module == null || findModule(provider, module)) return;
  const names = modulesOf(provider).map(({ name }) => name);
  const detail = `is not a module of ${provider.displayName}, which has ${names.join(', ')}.`;
  yield issueAt([...path, 'module'], detail, module);
}

function* objectIssues(
  objects: Objects,
  path: Path,
  { provider, capability }: { provider: Provider; capability: ProviderCapability },
): Generator<Issue> {
  for (const [index, { objectName }] of objects.entries()) {
    // That it has no such object is told already.
    if (provider.objects && !provider.objects.includes(objectName)) continue;
    if (supportsFor(provider, objectName, capability)) continue;
    const detail = `is an object that ${provider.displayName} does not support ${capability} for.`;
    yield issueAt([...path, index, 'objectName'], detail, objectName);
  }
}
