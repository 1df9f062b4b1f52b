/** Installations: an integration that a group uses, through one connection and with one config. */
import type { Installation } from '../database/generated/client.ts';
import type { Row } from '../database/rows.ts';
import { inTransaction } from '../database/transaction.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { conflict, invalidInput } from '../errors.ts';
import type { Call } from './call.ts';
import { openInput } from './checked-input.ts';
import { findGroupByRef } from './group.ts';
import { listConfigIssues } from './installation-config-check.ts';
import { chooseConnection } from './installation-connection.ts';
import {
  type CreateInstallation,
  createInstallationInput,
  type DeleteInstallation,
  type UpdateInstallation,
  updateInstallationInput,
} from './installation-input.ts';
import {
  changeInstallation,
  deleteInstallations,
  holdInstallation,
  insertInstallation,
} from './installation-rows.ts';
import { getIntegration, holdContent } from './integration.ts';
import { issueAt } from './issues.ts';
import { listPage, type PageArgs } from './page.ts';
import { getOwned, getProject } from './scope.ts';
import { authorize } from './viewer.ts';

type InstallationsArgs = PageArgs & { groupRef?: string | null };

export async function listInstallations(
  call: Call,
  { id: projectId }: Row<'Project'>,
  { groupRef, ...args }: InstallationsArgs,
) {
  authorize(call.viewer, 'read');
  const where = { projectId, ...(await ofGroup(call, projectId, groupRef)) };
  const name = 'Project.installations';
  return listPage(call, { name, parentId: projectId, table: 'Installation', where }, args);
}

export async function listInstallationsOfIntegration(
  call: Call,
  { id: integrationId, projectId }: Row<'Integration'>,
  { groupRef, ...args }: InstallationsArgs,
) {
  authorize(call.viewer, 'read');
  const where = { integrationId, ...(await ofGroup(call, projectId, groupRef)) };
  const name = 'Integration.installations';
  return listPage(call, { name, parentId: integrationId, table: 'Installation', where }, args);
}

/** Of a group that doesn't exist, nothing is found. */
async function ofGroup(call: Call, projectId: string, groupRef: string | null | undefined) {
  if (groupRef == null) return {};
  const group = await findGroupByRef(call, { projectId, groupRef });
  return { groupId: group?.id ?? [] };
}

/** Throws CONFLICT where the group has the integration already. */
export async function createInstallation(
  call: Call,
  input: CreateInstallation,
): Promise<Installation> {
  const { project, issues } = await openInput(call, {
    schema: createInstallationInput,
    input,
    needed: 'installations:write',
  });
  const { groupRef, config, connectionId: named = null } = input;
  const integration = await getIntegration(call, project.id, input.integrationIdOrName);
  const { projectId, provider } = integration;
  try {
    return await inTransaction(call.database, async (tx) => {
      const content = await holdContent(tx, integration);
      const group = await tx.group.findUnique({
        where: { projectId_groupRef: { projectId, groupRef } },
      });
      const groupId = group?.id ?? null;
      const wanted = { projectId, provider, groupId, connectionId: named };
      const { connectionId, issues: connectionIssues } = await chooseConnection(tx, wanted);
      const problems = [
        ...issues,
        ...(group
          ? []
          : [issueAt(['input', 'groupRef'], 'is not a group of the project.', groupRef)]),
        ...connectionIssues,
        ...(await listConfigIssues(tx, config, { projectId, content })),
      ];
      if (problems.length > 0 || !groupId || !connectionId) throw invalidInput(problems);
      const ends = { projectId, integrationId: integration.id, groupId, connectionId };
      return insertInstallation(call, tx, { ends, content, config });
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw conflict(`The group ${groupRef} has installed ${integration.name} already.`);
  }
}

/** What is given replaces what was there; nothing given changes nothing. */
export async function updateInstallation(
  call: Call,
  input: UpdateInstallation,
): Promise<Row<'Installation'>> {
  const { project, issues } = await openInput(call, {
    schema: updateInstallationInput,
    input,
    needed: 'installations:write',
  });
  const { id: projectId } = project;
  const key = { projectId, id: input.installationId };
  const found = await getOwned(call, 'Installation', { ...key, what: 'Installation' });
  return inTransaction(call.database, async (tx) => {
    const integration = { id: found.integrationId, projectId };
    const content = await holdContent(tx, integration);
    const installation = await holdInstallation(tx, key);
    const { provider } = content;
    const { groupId, connectionId: current } = installation;
    const wanted = { projectId, provider, groupId, connectionId: input.connectionId ?? current };
    const { connectionId, issues: connectionIssues } = await chooseConnection(tx, wanted);
    const configIssues = await listConfigIssues(tx, input.config, { projectId, content });
    const problems = [...issues, ...connectionIssues, ...configIssues];
    if (problems.length > 0 || !connectionId) throw invalidInput(problems);
    if (!input.config && connectionId === current) return installation;
    const config = input.config ?? null;
    return changeInstallation(call, tx, { installation, connectionId, content, config });
  });
}

/** Its connection stays, and so do its operations. */
export async function deleteInstallation(
  call: Call,
  { projectIdOrName, installationId }: DeleteInstallation,
): Promise<{ deletedId: string }> {
  const { id: projectId } = await getProject(call, projectIdOrName, 'installations:write');
  await inTransaction(call.database, async (tx) => {
    const installation = await holdInstallation(tx, { projectId, id: installationId });
    const recordEvents = await deleteInstallations(tx, [installation]);
    await recordEvents();
  });
  return { deletedId: installationId };
}
