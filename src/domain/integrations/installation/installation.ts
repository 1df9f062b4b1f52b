/**
 * Reads, creates and deletes installations. An installation is an integration that a group uses, through one connection
 * and with one config.
 */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { type Issue, notFound } from '../../../kernel/errors.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import { getProjectOfInput } from '../../access/input-project.ts';
import { loaded } from '../../access/relations.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { byId, getProjectRow, listVisibleRows } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { createdInProject, enumeration, resource, updateTime } from '../../base/resource.ts';
import { runRecordingSetupFailures } from '../../connections/diagnosis/setup-failure.ts';
import { findGroupByRef } from '../../tenants/project/parties.ts';
import { findLatestContent } from '../integration/content-cache.ts';
import { getIntegration, type IntegrationKey, lockContent } from '../integration/integration.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../integration/integration-content.ts';
import { loadLatestRevisions } from '../integration/revision.ts';
import { listIssuesAtAccount } from './check/account-check.ts';
import { refuseForeignChoices } from './check/end-user-check.ts';
import { listModuleIssues, listNewConfigIssues } from './check/installation-config-check.ts';
import {
  createInstallationInput,
  deleteInstallationInput,
  resolveObjectAliases,
} from './installation-input.ts';
import { findParties, requireParties } from './installation-parties.ts';
import { deleteInstallations, insertInstallation, lockInstallation } from './installation-rows.ts';
import { installedObjectResource, loadInstalledObjects } from './installed-object.ts';

type Installation = Row<'Installation'>;
type CreateInput = z.output<typeof createInstallationInput>;

export const installationHealth = enumeration(
  'InstallationHealth',
  'Whether an installation works.',
  {
    HEALTHY: 'No failure is known.',
    UNHEALTHY: 'A failure is known: `healthReason` describes it.',
  } satisfies Record<Installation['healthStatus'], string>,
);

export const installationResource = resource(
  'Installation',
  'An integration that a group uses, through one of its connections.',
  {
    ...createdInProject,
    healthStatus: installationHealth.describe(
      'Whether it works. It is unhealthy if its connection has bad credentials, its config maps no field to a required name, one of its subscriptions does not work, or its last three finished operations failed.',
    ),
    healthReason: z
      .string()
      .nullable()
      .describe('The human-readable reason why it is unhealthy. {Null} if it is healthy.'),
    createdBy: z
      .string()
      .describe('The caller who created it: api:<key id>, builder:<id> or consumer:<id>.'),
    objects: loaded(
      z
        .array(installedObjectResource)
        .describe('The objects that it reads, in the order of the manifest, with their progress.'),
      loadInstalledObjects,
      (row: Row<'Installation'>) => row,
    ),
    updateTime,
  },
);

export const getInstallation = read(
  orEndUser('read'),
  'Gets an installation with its config and its health.',
  getInstallationByKey,
);

/** Throws NOT_FOUND, also for an installation of another integration. */
export async function getInstallationByKey(
  call: Call,
  { installationId: id, ...key }: IntegrationKey & { installationId: string },
): Promise<Installation> {
  const { id: projectId } = await getProjectOfInput(call, key);
  const { id: integrationId } = await getIntegration(call, projectId, key.integrationIdOrName);
  const [installation] = await listVisibleRows(call, 'Installation', {
    id,
    projectId,
    integrationId,
  });
  if (!installation) throw notFound('Installation', id);
  return installation;
}

/** Returns the installation of the group with this ref. Throws NOT_FOUND if it does not exist. */
export async function getInstallationOfGroup(
  call: Call,
  { groupRef, ...key }: IntegrationKey & { groupRef: string },
): Promise<Installation> {
  const { id: projectId } = await getProjectOfInput(call, key);
  const { id: integrationId } = await getIntegration(call, projectId, key.integrationIdOrName);
  const group = await findGroupByRef(call, { projectId, groupRef });
  if (!group) throw notFound('Group', groupRef);
  const where = { projectId, integrationId, groupId: group.id };
  const [installation] = await listVisibleRows(call, 'Installation', where);
  if (!installation) throw notFound('An installation of the integration by the group', groupRef);
  return installation;
}

/**
 * Returns the connection and the latest content of an installation that the viewer has read. Throws NOT_FOUND if the
 * connection or the integration was deleted in the meantime.
 */
export async function getConnectionAndContent(
  call: Call,
  { id, integrationId, connectionId }: Installation,
): Promise<{ connection: Row<'Connection'>; content: IntegrationContent }> {
  const [revision] = await loadLatestRevisions(call, [integrationId]);
  const [connection] = await byId('Connection')(call, [connectionId]);
  if (!revision || !connection) throw notFound('Installation', id);
  return { connection, content: readIntegrationContent(revision) };
}

/** Throws CONFLICT if the group already has the integration. */
export const createInstallation = projectMutation({
  description: 'Installs an integration for a group. A group can have an integration once.',
  needs: orEndUser('installations:write', 'INSTALL'),
  input: createInstallationInput,
  async run(call, request, { id: projectId }): Promise<Installation> {
    const { groupRef, connectionId, configCreatedBy: createdBy } = request;
    const integration = await getIntegration(call, projectId, request.integrationIdOrName);
    const latestContent = await findLatestContent(call.database, integration);
    const config = resolveObjectAliases(call, request.config, latestContent);
    const input = { ...request, config };
    await refuseForeignChoices(call, { id: projectId }, { choices: input, current: null });
    const { id: integrationId, provider } = integration;
    const accountIssues = latestContent
      ? await listAccountIssues(call, input, { projectId, content: latestContent })
      : [];
    const creation = inTransaction(call.database, async (tx) => {
      const content = await lockContent(tx, integration);
      const requestedParties = await findParties(tx, {
        projectId,
        provider,
        groupRef,
        connectionId,
      });
      requireNoIssues([
        ...requestedParties.issues,
        ...accountIssues,
        ...(await listModuleIssues({ ...call, tx }, content, { ...requestedParties, projectId })),
        ...(await listNewConfigIssues({ ...call, tx }, config, { projectId, content })),
      ]);
      const parties = { projectId, integrationId, ...requireParties(requestedParties) };
      return insertInstallation(call, tx, { parties, content, config, createdBy });
    });
    const conflictMessage = `The group ${groupRef} has already installed ${integration.name}.`;
    const setup = { projectId, provider, input: createInstallationInput };
    return runRecordingSetupFailures(call, setup, () => requireUnique(creation, conflictMessage));
  },
});

/** Returns an issue for each object and field that the account lacks. Empty without a connection. */
async function listAccountIssues(
  call: Call,
  { skipSampling, groupRef, connectionId, config }: CreateInput,
  { projectId, content }: { projectId: string; content: IntegrationContent },
): Promise<Issue[]> {
  if (skipSampling) return [];
  const parties = await findParties(call.database.prisma, {
    projectId,
    provider: content.provider,
    groupRef,
    connectionId,
  });
  const account = { projectId, connectionId: parties.connectionId };
  return listIssuesAtAccount(call, account, { content, config, path: ['config'] });
}

export const deleteInstallation = projectMutation({
  description: 'Deletes an installation. Its connection and its operations are kept.',
  needs: orEndUser('installations:write', 'INSTALL'),
  input: deleteInstallationInput,
  async run(call, { installationId: id }, { id: projectId }): Promise<{ deletedId: string }> {
    await getProjectRow(call, 'Installation', { projectId, id, noun: 'Installation' });
    await inTransaction(call.database, async (tx) => {
      const installation = await lockInstallation(tx, { projectId, id });
      const recordEvents = await deleteInstallations(
        tx,
        { projectId, installations: [installation] },
        call.now(),
      );
      await recordEvents();
    });
    return { deletedId: id };
  },
});
