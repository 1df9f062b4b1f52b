import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { getProjectOfInput } from '../../../domain/access/input-project.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  createInstallation,
  deleteInstallation,
  getInstallation,
  getInstallationByKey,
} from '../../../domain/integrations/installation/installation.ts';
import { installationKeyInput } from '../../../domain/integrations/installation/installation-input.ts';
import {
  installationFilters,
  listIntegrationInstallations,
  listProjectInstallations,
  projectInstallationFilters,
} from '../../../domain/integrations/installation/installation-list.ts';
import {
  getIntegration,
  getRequestedIntegration,
  type IntegrationKey,
  integrationIdOrName,
} from '../../../domain/integrations/integration/integration.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { invalid } from '../../../kernel/errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { optional } from '../../endpoint/form.ts';
import { integrationInPath, type Location } from '../../endpoint/request-form.ts';
import {
  deleteEndpoint,
  joinCreateTime,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
  splitCreateTime,
} from '../../endpoint/resource-endpoints.ts';
import { configForm } from './config/config-form.ts';
import { installation } from './installation-view.ts';
import { updateInstallationEndpoints } from './update-installation.ts';

const tag = 'Installations';
const path = '/projects/{projectIdOrName}/integrations/{integrationId}/installations';
const inBody: Record<'config' | 'configCreatedBy', Location> = {
  config: {
    in: 'body',
    name: 'config.content',
    form: optional(configForm, 'The choices of the customer.'),
  },
  configCreatedBy: { in: 'body', name: 'config.createdBy' },
};
const revisionId = z
  .string()
  .max(256)
  .optional()
  .describe(
    'The id of the latest revision of the integration, which is the active one. Other ids are refused.',
  );

export const installationEndpoints = [
  listEndpoint({
    id: 'listProjectInstallations',
    path: '/projects/{projectIdOrName}/installations',
    tag,
    input: z.object({
      projectIdOrName,
      ...splitCreateTime(projectInstallationFilters.shape),
    }),
    list: joinCreateTime(readWithin(getRequestedProject, listProjectInstallations)),
    resource: installation,
  }),
  listEndpoint({
    id: 'listInstallations',
    path,
    tag,
    input: z.object({
      projectIdOrName,
      integrationIdOrName,
      ...splitCreateTime(installationFilters.shape),
    }),
    locations: integrationInPath,
    list: joinCreateTime(readWithin(getRequestedIntegration, listIntegrationInstallations)),
    resource: installation,
  }),
  mutationEndpoint({
    id: 'createInstallation',
    method: 'POST',
    path,
    tag,
    mutation: createInstallation,
    extraInput: { configRevisionId: revisionId },
    precheck: requireLatestRevision,
    locations: {
      ...integrationInPath,
      ...inBody,
      skipSampling: { in: 'query', name: 'skipSampling' },
      configRevisionId: { in: 'body', name: 'config.revisionId' },
    },
    status: 201,
    resource: installation,
  }),
  readEndpoint({
    id: 'getInstallation',
    path: `${path}/{installationId}`,
    tag,
    input: z.object({ ...installationKeyInput.shape, integrationIdOrName }),
    locations: integrationInPath,
    read: getInstallation,
    resource: installation,
  }),
  ...updateInstallationEndpoints,
  deleteEndpoint({
    id: 'deleteInstallation',
    path: `${path}/{installationId}`,
    tag,
    mutation: deleteInstallation,
    extraInput: { integrationIdOrName },
    precheck: ({ call }, input) => getInstallationByKey(call, input),
    locations: integrationInPath,
  }),
];

/** Throws BAD_USER_INPUT for a revision that is not the latest. */
async function requireLatestRevision(
  { call }: RestRequest,
  { configRevisionId, ...key }: IntegrationKey & { configRevisionId?: string | undefined },
): Promise<void> {
  if (configRevisionId === undefined) return;
  const { id: projectId } = await getProjectOfInput(call, key);
  const { latestRevisionId } = await getIntegration(call, projectId, key.integrationIdOrName);
  if (configRevisionId === latestRevisionId) return;
  const detail = `must be the latest revision of the integration, ${latestRevisionId}.`;
  throw invalid(['configRevisionId'], detail, configRevisionId);
}
