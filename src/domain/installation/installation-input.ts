import { z } from 'zod';
import { id } from '../../ids.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import { projectIdOrName, ref } from '../names.ts';
import { orNull } from '../optional-value.ts';
import { installationConfigInput } from './installation-config.ts';

const installationId = id.describe('The installation.');
const connectionId = id.describe(
  "A connection of the group to the integration's provider; default: the group's own.",
);

export const createInstallationInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    groupRef: ref.describe('The group that uses the integration.'),
    connectionId: orNull(connectionId),
    config: orNull(installationConfigInput).describe('Default: all that the integration has.'),
  })
  .meta({ id: 'CreateInstallationInput', description: 'An integration to install for a group.' });

export const updateInstallationInput = z
  .object({
    projectIdOrName,
    installationId,
    connectionId: connectionId.optional().describe('Another connection of the group.'),
    config: installationConfigInput.optional().describe('In place of the whole config before.'),
  })
  .meta({ id: 'UpdateInstallationInput', description: 'What to change; what is left out stays.' });

export const deleteInstallationInput = z
  .object({ projectIdOrName, installationId })
  .meta({ id: 'DeleteInstallationInput', description: 'An installation to delete.' });
