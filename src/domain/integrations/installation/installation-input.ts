/** The inputs of the mutations of installations. */
import { z } from 'zod';
import { id } from '../../../kernel/ids.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import type { ProjectCall } from '../../access/call.ts';
import { orDefault, orNull } from '../../base/input-schemas.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import { installationConfigInput, type ParsedConfig } from './choice/installation-config-input.ts';

/** Allows for the longest ref and its prefix. */
const CREATED_BY_MAX = 300;

const installationId = id.describe('The id of the installation.');
const connectionId = id.describe(
  "The id of a connection of the group to the integration's provider. Default: the group's newest working connection.",
);

const configCreatedBy = z
  .string()
  .min(1)
  .max(CREATED_BY_MAX)
  .describe(
    'The author of the config, under any name like `consumer:<ref>`. Default: the caller who created the installation.',
  );

const skipSampling = orDefault(z.boolean(), false).describe(
  'If true, skips checking that the chosen objects and fields exist in the account. Default: objects and fields that the account lacks are refused, if the provider reports them.',
);

export const createInstallationInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    groupRef: ref.describe('The ref of the group that uses the integration.'),
    connectionId: orNull(connectionId),
    config: orNull(installationConfigInput).describe(
      'The choices of the customer. Default: everything in the integration.',
    ),
    configCreatedBy: orNull(configCreatedBy),
    skipSampling,
  })
  .meta({
    id: 'CreateInstallationInput',
    description: 'The integration to install, and the group.',
  });

export const updateInstallationInput = z
  .object({
    projectIdOrName,
    installationId,
    connectionId: connectionId
      .optional()
      .describe('The id of another connection of the group to the same provider.'),
    config: installationConfigInput
      .optional()
      .describe('The whole new config, which replaces the current one.'),
    configCreatedBy: configCreatedBy.optional(),
    skipSampling,
  })
  .meta({
    id: 'UpdateInstallationInput',
    description: 'The new values of an installation. Omitted fields keep their values.',
  });

export const installationKeyInput = z.object({ projectIdOrName, installationId });

export const deleteInstallationInput = installationKeyInput.meta({
  id: 'DeleteInstallationInput',
  description: 'The installation to delete.',
});

/**
 * Returns the config with the provider's names of objects. A name in the revision's `content` stays unchanged, because
 * the revision may be older than an alias of that name.
 */
export function resolveObjectAliases<C extends ParsedConfig | null | undefined>(
  { catalog }: Pick<ProjectCall, 'catalog'>,
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
