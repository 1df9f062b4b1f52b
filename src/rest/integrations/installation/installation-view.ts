/** Installations in responses, with their group, connection, config and last operation. */
import { z } from 'zod';
import { load } from '../../../domain/access/batched.ts';
import type { Call } from '../../../domain/access/call.ts';
import { createRelations, loaded } from '../../../domain/access/relations.ts';
import { byId, type Row } from '../../../domain/access/scope.ts';
import { computed, idField } from '../../../domain/base/resource.ts';
import { operationStatus, toOperationStatus } from '../../../domain/data/operation/operation.ts';
import { installationResource } from '../../../domain/integrations/installation/installation.ts';
import {
  type ConfigContent,
  installationConfigResource,
  readConfigContent,
} from '../../../domain/integrations/installation/installation-config.ts';
import { loadLastOperations } from '../../../domain/integrations/installation/installation-list.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../../../domain/integrations/integration/integration-content.ts';
import { groupResource } from '../../../domain/tenants/project/parties.ts';
import { connection } from '../../connections/connection/connection-view.ts';
import { extendResource } from '../../openapi/response-form.ts';
import { configContent, configForm } from './config/config-form.ts';

type Installation = Row<'Installation'>;

/** The content of a config is in the reference API's form. */
const installationConfig = extendResource(installationConfigResource, {
  read: null,
  write: null,
  subscribe: null,
  proxy: null,
  revisionId: z.string().describe('The latest revision of the integration, which is active.'),
  createdBy: z
    .string()
    .describe('The author that the request names. Default: the creator of the installation.'),
  content: configContent,
});

export const installation = extendResource(installationResource, {
  integrationId: idField.describe('The id of the integration that is installed.'),
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
      .describe('The status of its newest operation. Absent before the first.'),
    async (row: Installation, call: Call) => {
      const operation = await load(call, loadLastOperations, row);
      return operation && toOperationStatus(operation.status);
    },
  ),
});

/** Returns the config of an installation, completed with choices of the integration. */
async function readConfig({ configId, integrationId, createdBy }: Installation, call: Call) {
  const { get } = createRelations(call);
  const [row, { latestRevisionId: revisionId, provider }] = await Promise.all([
    get(byId('InstallationConfig'), configId),
    get(byId('Integration'), integrationId),
  ]);
  const config = readConfigContent(row);
  // The content is large, and most configs do not need it.
  const content = leavesEventsToIntegration(config)
    ? readIntegrationContent(await get(byId('Revision'), revisionId))
    : null;
  return {
    ...row,
    revisionId,
    createdBy: row.createdBy ?? createdBy,
    content: { provider, ...(configForm.encode(completeEvents(config, content)) as object) },
  };
}

/** True if the response must complete the config with members of the integration. */
function leavesEventsToIntegration({ subscribe = [] }: ConfigContent): boolean {
  return subscribe.some(
    ({ destination, inheritFieldsAndMapping: inherits }) =>
      destination === null || inherits === null,
  );
}

/** Completes the choices of events with members of the integration. */
function completeEvents(config: ConfigContent, content: IntegrationContent | null): ConfigContent {
  const subscribe = config.subscribe?.map((choice) => {
    const hasSameName = (spec: { objectName: string }) => spec.objectName === choice.objectName;
    const spec = content?.subscribe?.objects.find(hasSameName);
    const readSpec = content?.read?.objects.find(hasSameName);
    const { destination, inheritFieldsAndMapping: inherits } = choice;
    return {
      ...choice,
      destination: destination ?? spec?.destination ?? readSpec?.destination ?? '',
      inheritFieldsAndMapping: inherits ?? spec?.inheritFieldsAndMapping ?? false,
    };
  });
  return { ...config, subscribe };
}
