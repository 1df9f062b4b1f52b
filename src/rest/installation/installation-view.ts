/** Installations as answers show them, with what they are made up of. */
import { z } from 'zod';
import {
  installationHealth,
  lastOperations,
} from '../../domain/installation/installation-health.ts';
import { installedObjects } from '../../domain/installation/installed-object.ts';
import type { Relations } from '../../domain/relations.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { connection, showConnection } from '../connection/connection-view.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { operationStatus } from '../operation/operation-view.ts';
import { group, showGroup } from '../project/group.ts';
import { installationConfig, showInstallationConfig } from './installation-config.ts';
import { installedObject, showInstalledObject } from './installed-object.ts';

export const installation = resource('Installation', 'An integration that a group uses.', {
  ...createdShape,
  integrationId: z.string().describe('The integration that is installed.'),
  healthStatus: words('InstallationHealth', ['HEALTHY', 'UNHEALTHY']).describe(
    'Unhealthy: its connection has bad credentials, or its last three operations failed.',
  ),
  group,
  connection,
  config: installationConfig,
  objects: z.array(installedObject).describe('The objects that it reads, by name.'),
  lastOperationStatus: operationStatus
    .optional()
    .describe('How its newest operation stands; left out before the first.'),
  createdBy: z.string().describe('Who made it: api:<key id> or builder:<id>.'),
  ...updateTimeShape,
});

export async function showInstallation(row: Row<'Installation'>, relations: Relations) {
  const { get, find } = relations;
  const [ofGroup, through, config, health, last, objects] = await Promise.all([
    get(byId('Group'), row.groupId),
    get(byId('Connection'), row.connectionId).then((found) => showConnection(found, relations)),
    get(byId('InstallationConfig'), row.configId),
    get(installationHealth, row.id),
    find(lastOperations, row.id),
    get(installedObjects, row.id),
  ]);
  return {
    ...row,
    healthStatus: wordOf('InstallationHealth', health),
    group: showGroup(ofGroup),
    connection: through,
    config: showInstallationConfig(config),
    objects: objects.map(showInstalledObject),
    lastOperationStatus: last ? wordOf('OperationStatus', last.status) : undefined,
    updateTime: row.updateTime ?? undefined,
  };
}
