/** Replaces object aliases in a config. An alias is a short name that a provider has for one of its objects. */
import { resolveObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import type { ParsedConfig } from './choice/installation-config-input.ts';

/**
 * Returns the config with the provider's names of objects. A name in the revision's `content` stays unchanged, because
 * the revision may be older than an alias of that name.
 */
export function resolveObjectAliases<C extends ParsedConfig | null | undefined>(
  { catalog }: Pick<Call, 'catalog'>,
  config: C,
  content: IntegrationContent | null,
): C | ParsedConfig {
  if (!config || !content) return config;
  const provider = catalog.findWithModule(content.provider, content.module);
  if (!provider?.objectAliases?.size) return config;
  const sections = [content.read, content.write, content.subscribe];
  const revisionNames = new Set(
    sections.flatMap((section) => section?.objects.map(({ objectName }) => objectName) ?? []),
  );
  const resolveAlias = <T extends { objectName: string }>(choice: T): T => ({
    ...choice,
    objectName: revisionNames.has(choice.objectName)
      ? choice.objectName
      : resolveObjectName(provider, choice.objectName),
  });
  const { read, write, subscribe } = config;
  return {
    ...config,
    read: read.map(resolveAlias),
    write: write.map(resolveAlias),
    subscribe: subscribe.map(resolveAlias),
  };
}
