import { z } from 'zod';
import { boundedName, projectIdOrName, ref } from '../../../domain/base/names.ts';
import { pauseReads, resumeReads } from '../../../domain/data/operation/read/pause.ts';
import { triggerRead } from '../../../domain/data/operation/read/trigger.ts';
import {
  getInstallationByKey,
  getInstallationOfGroup,
} from '../../../domain/integrations/installation/installation.ts';
import { loadInstalledObjects } from '../../../domain/integrations/installation/installed-object.ts';
import { integrationIdOrName } from '../../../domain/integrations/integration/integration.ts';
import { notFound } from '../../../kernel/errors.ts';
import { endpoint, type RestRequest } from '../../endpoint/endpoint.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';

const tag = 'Reads';
const integrationPath = '/projects/{projectIdOrName}/integrations/{integrationId}';

const deliverInput = z.object({
  projectIdOrName,
  integrationIdOrName,
  objectName: boundedName.describe('The name of the object that is read.'),
  groupRef: ref.describe('The ref of the group that has the installation.'),
  pages: z.int().min(0).optional().describe('The number of pages to deliver. Default: all.'),
});

async function requireReadObject({ call }: RestRequest, input: z.output<typeof deliverInput>) {
  const installation = await getInstallationOfGroup(call, input);
  const [objects = []] = await loadInstalledObjects(call, [installation]);
  const { objectName: name } = input;
  const isRead = objects.some(
    ({ objectName, mappedObjectName }) => objectName === name || mappedObjectName === name,
  );
  if (!isRead) throw notFound('The object in the installation', name);
}

export const readEndpoints = [
  mutationEndpoint({
    id: 'triggerRead',
    method: 'POST',
    path: `${integrationPath}/objects/{objectName}:read`,
    tag,
    mutation: triggerRead,
    extraInput: { mode: z.enum(['async']).optional().describe('Always `async`, the default.') },
    locations: {
      ...integrationInPath,
      sinceTime: { in: 'body', name: 'sinceTimestamp' },
      untilTime: { in: 'body', name: 'untilTimestamp' },
    },
    status: 201,
    resource: z
      .object({ operationId: z.string().describe('The id of the read operation.') })
      .describe('The read has started. Its operation reports the progress.'),
    show: ({ id: operationId }) => ({ operationId }),
  }),
  endpoint({
    id: 'deliverResults',
    method: 'POST',
    path: `${integrationPath}/objects/{objectName}:deliverResults`,
    tag,
    summary: 'Does nothing: records are delivered as soon as they are read.',
    description: 'Exists for clients of the reference API.',
    needs: triggerRead.needs,
    input: deliverInput,
    locations: integrationInPath,
    status: 204,
    resource: null,
    run: requireReadObject,
  }),
  createControlEndpoint('pauseReads', 'pause', pauseReads),
  createControlEndpoint('unpauseReads', 'unpause', resumeReads),
];

function createControlEndpoint(id: string, verb: string, mutation: typeof pauseReads) {
  return mutationEndpoint({
    id,
    method: 'POST',
    path: `${integrationPath}/installations/{installationId}:${verb}`,
    tag,
    mutation,
    extraInput: { integrationIdOrName },
    precheck: ({ call }, input) => getInstallationByKey(call, input),
    locations: integrationInPath,
    status: 204,
    resource: null,
  });
}
