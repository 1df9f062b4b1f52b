/** Installations in responses, with their group, connection, config and last operation. */
import { load } from '../../domain/batched.ts';
import type { Call } from '../../domain/call.ts';
import { installationResource } from '../../domain/installation/installation.ts';
import { lastOperations } from '../../domain/installation/last-operations.ts';
import { operationStatus, toOperationStatus } from '../../domain/operation/operation-status.ts';
import { groupResource } from '../../domain/project/group.ts';
import { loaded } from '../../domain/relations.ts';
import { computed, shownId } from '../../domain/resource.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { connection } from '../connection/connection-view.ts';
import { extendResource } from '../openapi/shown-resource.ts';
import { installationConfig, readConfig } from './config/show-config.ts';

type Installation = Row<'Installation'>;

export const installation = extendResource(installationResource, {
  integrationId: shownId.describe('The id of the integration that is installed.'),
  group: loaded(groupResource, byId('Group'), ({ groupId }: Installation) => groupId),
  connection: loaded(
    connection,
    byId('Connection'),
    ({ connectionId }: Installation) => connectionId,
  ),
  config: computed(installationConfig, readConfig),
  lastOperationStatus: computed(
    operationStatus
      .nullable()
      .describe('The status of its newest operation. Null before the first.'),
    async (row: Installation, call: Call) => {
      const last = await load(call, lastOperations, row);
      return last && toOperationStatus(last.status);
    },
  ),
});
