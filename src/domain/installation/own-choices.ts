/** Configs whose choices name objects as the manifest does: by an alias of the provider's own name. */
import type { Provider } from '../../providers/contract.ts';
import { ownObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import { type OpenedInput, openInput } from '../opened-input.ts';
import type { ConfigInput } from './installation-config.ts';
import type { createInstallationInput, updateInstallationInput } from './installation-input.ts';

type Input = typeof createInstallationInput | typeof updateInstallationInput;

/**
 * The input with the provider's own names in its config. Names that the content has are kept: a revision that is older
 * than an alias may have the alias as a name.
 */
export function withOwnChoices<S extends Input>(
  { catalogue }: Pick<Call, 'catalogue'>,
  opened: OpenedInput<S>,
  content: IntegrationContent | null,
): OpenedInput<S> {
  const config = opened.isWellFormed ? opened.given.config : null;
  if (!config || !content) return opened;
  const own = ownConfig(config, content, catalogue.findAt(content.provider, content.module));
  return own === config ? opened : openInput(opened.schema, { ...opened.given, config: own });
}

function ownConfig(
  config: ConfigInput,
  content: IntegrationContent,
  provider: Provider | null,
): ConfigInput {
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
    read: read?.map(own),
    write: write?.map(own),
    subscribe: subscribe?.map(own),
  };
}

function nameOf({ objectName }: { objectName: string }): string {
  return objectName;
}
