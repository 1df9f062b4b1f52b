/** Replaces aliases of objects in a config with the provider's own names, as in the manifest. */
import { ownObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import type { ParsedConfig } from './installation-config.ts';

/**
 * Returns the config with the provider's own names. Names in `content` stay: a revision from before an alias may use
 * the alias as a name.
 */
export function withOwnChoices<C extends ParsedConfig | null | undefined>(
  { catalogue }: Pick<Call, 'catalogue'>,
  config: C,
  content: IntegrationContent | null,
): C | ParsedConfig {
  if (!config || !content) return config;
  const provider = catalogue.findAt(content.provider, content.module);
  if (!provider?.objectAliases?.size) return config;
  const parts = [content.read, content.write, content.subscribe];
  const existing = new Set(parts.flatMap((part) => part?.objects.map(getObjectName) ?? []));
  const toOwnName = <T extends { objectName: string }>(choice: T): T => ({
    ...choice,
    objectName: existing.has(choice.objectName)
      ? choice.objectName
      : ownObjectName(provider, choice.objectName),
  });
  const { read, write, subscribe } = config;
  return {
    ...config,
    read: read.map(toOwnName),
    write: write.map(toOwnName),
    subscribe: subscribe.map(toOwnName),
  };
}

function getObjectName({ objectName }: { objectName: string }): string {
  return objectName;
}
