/** Checks that an integration uses only what its provider supports. */

import type { Issue } from '../../../kernel/errors.ts';
import { enumValue, joinTexts, member, type Path, type Text, text } from '../../../kernel/text.ts';
import {
  listCapabilities,
  PROVIDER_CAPABILITIES,
  type Provider,
  type ProviderCapability,
  supportsCapability,
} from '../../../providers/contract.ts';
import { findModule, getModules } from '../../../providers/modules.ts';
import { createInputIssue } from '../../base/issues.ts';
import type { IntegrationContent } from './integration-content.ts';

const UNHEALTHY = enumValue('UNHEALTHY', 'InstallationHealth');

/**
 * Lists the parts of the content that need a capability which the provider lacks. Objects of `subscribe` are accepted
 * with a warning (`listSubscribeWarnings`), and their installations are UNHEALTHY.
 */
export function* listCapabilityIssues(
  { read, write, proxy, watchSchema }: IntegrationContent,
  path: Path,
  provider: Provider,
): Generator<Issue> {
  yield* listObjectIssues(read?.objects, [...path, 'read'], { provider, capability: 'READ' });
  yield* listObjectIssues(write?.objects, [...path, 'write'], { provider, capability: 'WRITE' });
  const capabilities = listCapabilities(provider);
  if (proxy?.enabled && !capabilities.includes('PROXY')) {
    const detail = text`must be false: ${provider.displayName} does not support ${enumValue('PROXY', 'ProviderCapability')}.`;
    yield createInputIssue([...path, 'proxy', 'enabled'], detail, true);
  }
  if (watchSchema && !capabilities.includes('METADATA')) {
    const detail = text`must be omitted: ${provider.displayName} does not describe its objects (${enumValue('METADATA', 'ProviderCapability')}).`;
    yield createInputIssue([...path, 'watchSchema'], detail, watchSchema);
  }
}

export function* listContentModuleIssues(
  { module }: IntegrationContent,
  path: Path,
  provider: Provider,
): Generator<Issue> {
  if (module == null || findModule(provider, module)) return;
  const { displayName, modules } = provider;
  const names = getModules(provider).map(({ name }) => name);
  const remedy = modules ? `has ${names.join(', ')}` : 'has no modules. Omit it';
  const detail = `is not a module of ${displayName}, which ${remedy}.`;
  yield createInputIssue([...path, 'module'], detail, module);
}

/** Returns a sentence for each subscribed object whose events the provider cannot send. */
export function listSubscribeWarnings(
  { subscribe }: IntegrationContent,
  path: Path,
  provider: Provider,
): Text[] {
  return (subscribe?.objects ?? []).flatMap(({ objectName }, index) => {
    if (supportsCapability(provider, objectName, 'SUBSCRIBE')) return [];
    const name = member(...path, 'subscribe', 'objects', index, 'objectName');
    const reason = describeMissingCapability(provider, objectName, 'SUBSCRIBE');
    return [text`${name}: ${reason} Its installations will be ${UNHEALTHY}.`];
  });
}

function* listObjectIssues(
  objects: readonly { objectName: string }[] = [],
  path: Path,
  { provider, capability }: { provider: Provider; capability: ProviderCapability },
): Generator<Issue> {
  for (const [index, { objectName }] of objects.entries()) {
    // Another check reports unknown objects.
    if (provider.objects && !provider.objects.includes(objectName)) continue;
    if (supportsCapability(provider, objectName, capability)) continue;
    const detail = describeMissingCapability(provider, objectName, capability);
    yield createInputIssue([...path, 'objects', index, 'objectName'], detail, objectName);
  }
}

/** Formats a sentence about a missing capability, with the capabilities that the provider or the object has. */
function describeMissingCapability(
  provider: Provider,
  objectName: string,
  capability: ProviderCapability,
): Text {
  const { displayName } = provider;
  const capabilities = listCapabilities(provider);
  if (!capabilities.includes(capability)) {
    const supportedNames =
      capabilities.length > 0 ? text`only ${nameCapabilities(capabilities)}` : 'connections only';
    return text`needs ${nameCapabilities([capability])}, which ${displayName} does not support: it supports ${supportedNames}.`;
  }
  const objectCapabilities = PROVIDER_CAPABILITIES.filter((candidate) =>
    supportsCapability(provider, objectName, candidate),
  );
  return text`needs ${nameCapabilities([capability])}, which ${displayName} supports for other objects: this one supports only ${nameCapabilities(objectCapabilities)}.`;
}

function nameCapabilities(capabilities: readonly ProviderCapability[]): Text {
  const names = capabilities.map((capability) => enumValue(capability, 'ProviderCapability'));
  return joinTexts(names, ', ');
}
