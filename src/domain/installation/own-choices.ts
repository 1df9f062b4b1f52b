/** Configs whose choices name objects as the manifest does: by an alias of the provider's own name. */
import { ownObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import type { ParsedConfig } from './installation-config.ts';

/**
 * The config with the provider's own names. Names that the content has are kept: a revision that is older than an alias
 * may have the alias as a name.
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
  const known = new Set(parts.flatMap((part) => part?.objects.map(nameOf) ?? []));
  const own = <T extends { objectName: string }>(choice: T): T => ({
    ...choice,
    objectName: known.has(choice.objectName)
      ? choice.objectName
      : ownObjectName(provider, choice.objectName),
  });
  const { read, write, subscribe } = config;
  return {
    ...config,
    read: read.map(own),
    write: write.map(own),
    subscribe: subscribe.map(own),
  };
}

function nameOf({ objectName }: { objectName: string }): string {
  return objectName;
}
