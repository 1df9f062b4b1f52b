/** Installations as answers show them, with what they are made up of. */
import { z } from 'zod';
import { installationResource } from '../../domain/installation/installation.ts';
import {
  installedObjectResource,
  installedObjects,
} from '../../domain/installation/installed-object.ts';
import { lastOperations } from '../../domain/installation/last-operations.ts';
import { readIntegrationContent } from '../../domain/integration/integration-content.ts';
import { groupResource } from '../../domain/project/group.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { connection, showConnection } from '../connection/connection-view.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { wordOf } from '../endpoint/words.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { operationStatus } from '../operation/operation-view.ts';
import {
  installationConfig,
  isSilentOnEvents,
  showInstallationConfig,
} from './config/show-config.ts';

export const installation = responseOf(installationResource, (shape) => ({
  ...shape,
  integrationId: z.string().describe('The id of the integration that is installed.'),
  group: responseOf(groupResource),
  connection,
  config: installationConfig,
  objects: z
    .array(responseOf(installedObjectResource))
    .describe('The objects that it reads, in the order of their names.'),
  lastOperationStatus: operationStatus
    .optional()
    .describe('The status of its newest operation. Absent before the first.'),
}));

export async function showInstallation(row: Row<'Installation'>, request: RestRequest) {
  const { get, find } = request;
  const [ofGroup, integration, through, config, last, objects] = await Promise.all([
    get(byId('Group'), row.groupId),
    get(byId('Integration'), row.integrationId),
    get(byId('Connection'), row.connectionId).then((found) => showConnection(found, request)),
    get(byId('InstallationConfig'), row.configId),
    find(lastOperations, row),
    get(installedObjects, row),
  ]);
  const { latestRevisionId: revisionId, provider } = integration;
  const content = isSilentOnEvents(config)
    ? readIntegrationContent(await get(byId('Revision'), revisionId))
    : null;
  return {
    ...showResource(installationResource, row, request),
    integrationId: row.integrationId,
    group: showResource(groupResource, ofGroup, request),
    connection: through,
    config: showInstallationConfig(config, {
      provider,
      revisionId,
      createdBy: row.createdBy,
      content,
    }),
    objects: objects.map((object) => showResource(installedObjectResource, object, request)),
    lastOperationStatus: last ? wordOf('OperationStatus', last.status) : undefined,
  };
}
