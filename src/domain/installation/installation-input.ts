/** The inputs of the mutations of installations. */
import { z } from 'zod';
import { id } from '../../ids.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import { projectIdOrName, ref } from '../names.ts';
import { orDefault, orNull } from '../optional-value.ts';
import { installationConfigInput } from './choice/installation-config-input.ts';

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
