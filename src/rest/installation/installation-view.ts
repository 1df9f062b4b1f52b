/** Installations as answers show them, with what they are made up of. */
import { z } from 'zod';
import {
  type InstalledObjectView,
  installedObjects,
} from '../../domain/installation/installed-object.ts';
import { lastOperations } from '../../domain/installation/last-operations.ts';
import { contentOf } from '../../domain/integration/integration-content.ts';
import { groupResource } from '../../domain/project/group.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { connection, showConnection } from '../connection/connection-view.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { operationStatus } from '../operation/operation-view.ts';
import {
  installationConfig,
  isSilentOnEvents,
  showInstallationConfig,
} from './config/show-config.ts';

const installedObject = resource(
  'InstalledObject',
  'How far one object of an installation is read.',
  {
    objectName: z.string().describe("The provider's name of the object, like `contacts`."),
    mappedObjectName: z
      .string()
      .optional()
      .describe('The name that the integration maps the object to; left out if there is none.'),
    schedule: z
      .string()
      .optional()
      .describe(
        "A cron expression of five fields, in UTC: the config's, else the integration's; left out if there is none.",
      ),
    paused: z.boolean().describe('Whether its scheduled reads are paused.'),
    pauseNote: z
      .string()
      .optional()
      .describe(
        'The note of the last change that paused or resumed its reads. Absent without a note.',
      ),
    nextReadTime: z
      .date()
      .optional()
      .describe('When its next scheduled read is due; left out if none is.'),
    lastReadTime: z.date().optional().describe('When it was last read; left out if it never was.'),
    backfillDone: z.boolean().describe('Whether its first read has finished.'),
    recordsRead: z.int().describe('How many records were read in all, from the first read on.'),
  },
);

function showInstalledObject(view: InstalledObjectView) {
  return {
    ...view,
    mappedObjectName: view.mappedObjectName ?? undefined,
    schedule: view.schedule ?? undefined,
    pauseNote: view.pauseNote ?? undefined,
    nextReadTime: view.nextReadTime ?? undefined,
    lastReadTime: view.lastReadTime ?? undefined,
  };
}

export const installation = resource(
  'Installation',
  'The installation: an integration that a group uses, through one of its connections.',
  {
    ...createdShape,
    integrationId: z.string().describe('The id of the integration that is installed.'),
    healthStatus: words('InstallationHealth', ['HEALTHY', 'UNHEALTHY']).describe(
      'unhealthy: its connection has bad credentials, it maps no field to what the integration requires, one of its subscriptions does not work, or the last three of its operations to end have failed.',
    ),
    healthReason: z
      .string()
      .optional()
      .describe('Why it is unhealthy, for people; left out if it is healthy.'),
    group: responseOf(groupResource),
    connection,
    config: installationConfig,
    objects: z
      .array(installedObject)
      .describe('The objects that it reads, in the order of their names.'),
    lastOperationStatus: operationStatus
      .optional()
      .describe('The status of its newest operation; left out before the first.'),
    createdBy: z.string().describe('The caller who created it: api:<key id> or builder:<id>.'),
    ...updateTimeShape,
  },
);

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
    ? contentOf(await get(byId('Revision'), revisionId))
    : null;
  return {
    ...row,
    healthStatus: wordOf('InstallationHealth', row.healthStatus),
    healthReason: row.healthReason ?? undefined,
    group: showResource(groupResource, ofGroup, request),
    connection: through,
    config: showInstallationConfig(config, {
      provider,
      revisionId,
      createdBy: row.createdBy,
      content,
    }),
    objects: objects.map(showInstalledObject),
    lastOperationStatus: last ? wordOf('OperationStatus', last.status) : undefined,
    updateTime: row.updateTime ?? undefined,
  };
}
