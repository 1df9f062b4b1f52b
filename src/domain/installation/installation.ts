/** Installations: an integration that a group uses, through one connection and with one config. */

import type { Row } from '../../database/rows.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalidInput, notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import { openInput } from '../checked-input.ts';
import { read } from '../declared-read.ts';
import { getIntegration, holdContent, type IntegrationKey } from '../integration/integration.ts';
import { listPage, type PageArgs } from '../page.ts';
import { findGroupByRef } from '../project/group.ts';
import { getOwned, getProject } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { listConfigIssues } from './installation-config-check.ts';
import { chooseConnection, findEnds } from './installation-connection.ts';
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

type Installation = Row<'Installation'>;

type InstallationsArgs = PageArgs & { groupRef?: string | null };

export const listInstallations = read(
  'read',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { groupRef, ...args }: InstallationsArgs,
  ) => {
    const where = { projectId, ...(await ofGroup(call, projectId, groupRef)) };
    const name = 'Project.installations';
    return listPage(call, { name, parentId: projectId, table: 'Installation', where }, args);
  },
);

export const listInstallationsOfIntegration = read(
  'read',
  async (
    call: Call,
    { id: integrationId, projectId }: Row<'Integration'>,
    { groupRef, ...args }: InstallationsArgs,
  ) => {
    const where = { integrationId, ...(await ofGroup(call, projectId, groupRef)) };
    const name = 'Integration.installations';
    return listPage(call, { name, parentId: integrationId, table: 'Installation', where }, args);
  },
);

/** Of a group that doesn't exist, nothing is found. */
async function ofGroup(call: Call, projectId: string, groupRef: string | null | undefined) {
  if (groupRef == null) return {};
  const group = await findGroupByRef(call, { projectId, groupRef });
  return { groupId: group?.id ?? [] };
}

export const getInstallation = read('read', getInstallationOf);

/** Throws NOT_FOUND, also for an installation of another integration. */
export async function getInstallationOf(
  call: Call,
  { installationId: id, ...key }: IntegrationKey & { installationId: string },
): Promise<Installation> {
  const { id: projectId } = await getProject(call, key.projectIdOrName);
  const { id: integrationId } = await getIntegration(call, projectId, key.integrationIdOrName);
  const [found] = await call.database.rows.find('Installation', { id, projectId, integrationId });
  if (!found) throw notFound('Installation', id);
  return found;
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
  const integration = await getIntegration(call, project.id, input.integrationIdOrName);
  const { id: integrationId, projectId, provider } = integration;
  const { groupRef, connectionId: named = null, config } = input;
  const created = inTransaction(call.database, async (tx) => {
    const content = await holdContent(tx, integration);
    const found = await findEnds(tx, { projectId, provider, groupRef, connectionId: named });
    const configIssues = await listConfigIssues(tx, config, { projectId, content });
    const problems = [...issues, ...found.issues, ...configIssues];
    const { groupId, connectionId } = found;
    if (problems.length > 0 || !groupId || !connectionId) throw invalidInput(problems);
    const ends = { projectId, integrationId, groupId, connectionId };
    return insertInstallation(call, tx, { ends, content, config });
  });
  return uniquely(created, `The group ${groupRef} has installed ${integration.name} already.`);
}

/** What is given replaces what was there; nothing given changes nothing. */
export async function updateInstallation(
  call: Call,
  input: UpdateInstallation,
): Promise<Installation> {
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
    const { groupId, connectionId: current } = installation;
    const wanted = { projectId, groupId, connectionId: input.connectionId ?? current };
    const chosen = await chooseConnection(tx, { ...wanted, provider: content.provider });
    const configIssues = await listConfigIssues(tx, input.config, { projectId, content });
    const problems = [...issues, ...chosen.issues, ...configIssues];
    const { connectionId } = chosen;
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
