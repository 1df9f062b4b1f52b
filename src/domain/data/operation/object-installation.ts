/** Finds the installation that serves an object to a group. */

import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, type Issue, notFound, unprocessable } from '../../../kernel/errors.ts';
import { load } from '../../access/batched.ts';
import type { Call, RowServices } from '../../access/call.ts';
import { type Batch, byId, listVisibleLinks, narrowToVisible } from '../../access/scope.ts';
import type { Viewer } from '../../access/viewer/viewer.ts';
import { createInputIssue, requireNoIssues } from '../../base/issues.ts';
import {
  type ConfigContent,
  readConfigContent,
} from '../../integrations/installation/installation-config.ts';
import { findContent, findLatestContent } from '../../integrations/integration/content-cache.ts';
import type { IntegrationContent } from '../../integrations/integration/integration-content.ts';
import { findGroupByRef } from '../../tenants/project/parties.ts';
import { findProviderObject } from '../contract/object-contract.ts';
import { INTEGRATIONS_MAX } from '../contract/read-contract.ts';
import type { InstallationContent } from './read/read-source.ts';

/** Identifies an object of a project by the builder's name, and a group. */
export interface ObjectOfGroup {
  projectId: string;
  objectName: string;
  /** Null means the group of the end user who calls. */
  groupRef: string | null;
}

/** The installation that serves an object to a group, with its content and config. */
export interface ServingInstallation {
  installation: Row<'Installation'>;
  integration: Row<'Integration'>;
  connection: Row<'Connection'>;
  group: Row<'Group'>;
  content: IntegrationContent;
  config: ConfigContent;
  /** The provider's name of the object. */
  providerObject: string;
}

/**
 * Throws BAD_USER_INPUT without a group, NOT_FOUND if the group is unknown or has no installation with the object, and
 * UNPROCESSABLE if several of its installations have the object or the group has too many installations.
 */
export async function getServingInstallation(
  call: Call,
  { projectId, objectName, groupRef }: ObjectOfGroup,
): Promise<ServingInstallation> {
  const group = await getGroupOfCaller(call, projectId, groupRef);
  const installations = await listInstallationsOfGroup(call, group);
  const candidateLists = await Promise.all(
    installations.map(async ({ linked, ...installation }): Promise<ServingInstallation[]> => {
      const setup = await findSetup(call, installation, linked);
      if (!setup) return [];
      const providerObject = findProviderObject(setup.content, objectName);
      return providerObject === null ? [] : [{ installation, group, ...setup, providerObject }];
    }),
  );
  const candidates = candidateLists.flat();
  const [serving, otherServing] = candidates.filter(readsOrWritesObject);
  if (!serving) throw createNotServedError(objectName, group, candidates[0]);
  if (otherServing) throw createAmbiguousError(objectName, [serving, otherServing]);
  return serving;
}

/**
 * Returns the group with this ref. Without a ref, returns the group of an end user, and throws BAD_USER_INPUT for other
 * callers. Throws NOT_FOUND for an unknown group.
 */
export async function getGroupOfCaller(
  call: Call,
  projectId: string,
  groupRef: string | null,
): Promise<Row<'Group'>> {
  const { viewer } = call;
  if (groupRef !== null) {
    const group = await findGroupByRef(call, { projectId, groupRef });
    if (!group) throw notFound('Group', groupRef);
    return group;
  }
  requireNoIssues(listGroupIssues(viewer, groupRef));
  if (viewer.kind !== 'END_USER') throw new Error('Bug: a caller without a group.');
  const group = await load(call, byId('Group'), viewer.groupId);
  if (!group) throw notFound('Group', viewer.groupId);
  return group;
}

/** Lists the issue of a missing group. */
export function listGroupIssues({ kind }: Viewer, groupRef: string | null): Issue[] {
  if (groupRef !== null || kind === 'END_USER') return [];
  const detail = "is required: only an end user's token implies its group.";
  return [createInputIssue(['groupRef'], detail)];
}

/** Lists all installations of the group that the viewer may see. Throws UNPROCESSABLE if there are too many. */
export async function listInstallationsOfGroup(
  call: Call,
  { projectId, id: groupId, groupRef }: Row<'Group'>,
): Promise<LinkedInstallation[]> {
  const installations = await load(call, loadInstallationsOfGroups, { projectId, groupId });
  if (installations.length > INSTALLATIONS_MAX) throw createTooManyInstallationsError(groupRef);
  return installations;
}

/** An installation with its integration and its connection, by the columns that reference them. */
type LinkedInstallation = Row<'Installation'> & {
  linked: { integrationId: Row<'Integration'> | null; connectionId: Row<'Connection'> | null };
};

/**
 * The maximum number of installations among which an object is found. It equals the maximum number of integrations of a
 * contract, because a group has at most one installation of an integration.
 */
const INSTALLATIONS_MAX = INTEGRATIONS_MAX;

/** Lists at most INSTALLATIONS_MAX + 1 installations of each group. */
const loadInstallationsOfGroups: Batch<
  Pick<Row<'Installation'>, 'projectId' | 'groupId'>,
  LinkedInstallation[]
> = async ({ viewer, database }, keys) => {
  const links = listVisibleLinks(viewer, [
    { table: 'Integration', column: 'integrationId' },
    { table: 'Connection', column: 'connectionId' },
  ]);
  const range = { column: 'id', direction: 'asc', limit: INSTALLATIONS_MAX + 1 } as const;
  const keysByGroup = new Map(keys.map((key) => [key.groupId, key]));
  const pages = await database.reads.pages(
    [...keysByGroup.values()].flatMap((key) => {
      const where = narrowToVisible(viewer, 'Installation', key);
      return where ? [{ table: 'Installation', where, range, links }] : [];
    }),
  );
  const installations = pages.flat() as LinkedInstallation[];
  const installationsByGroup = Map.groupBy(installations, ({ groupId }) => groupId);
  return keys.map(({ groupId }) => installationsByGroup.get(groupId) ?? []);
};

/** Returns null if the integration, its content, the connection or the config was deleted in the meantime. */
async function findSetup(
  { database }: RowServices,
  { projectId, configId }: Row<'Installation'>,
  linked: LinkedInstallation['linked'],
): Promise<Pick<ServingInstallation, 'integration' | 'connection' | 'content' | 'config'> | null> {
  const integration = linked.integrationId;
  const connection = linked.connectionId;
  if (!integration || !connection) return null;
  const [content, config] = await Promise.all([
    findLatestContent(database, integration),
    findContent(database, 'InstallationConfig', { projectId, id: configId }),
  ]);
  return (
    content && config && { integration, connection, content, config: readConfigContent(config) }
  );
}

/** Adds the connection's consumer, which reads and writes need. Throws NOT_FOUND if it was deleted in the meantime. */
export async function getServedContent(
  { database: { prisma } }: RowServices,
  { installation, integration, connection, group, content, config }: ServingInstallation,
): Promise<InstallationContent> {
  const { projectId, consumerId: id } = connection;
  const consumer = await prisma.consumer.findUnique({ where: { projectId_id: { projectId, id } } });
  if (!consumer) throw notFound('Installation', installation.id);
  return {
    installation: { ...installation, group, integration, connection: { ...connection, consumer } },
    content,
    config,
  };
}

/** True if the config of the installation reads or writes the object. */
function readsOrWritesObject({
  config: { read, write },
  providerObject,
}: ServingInstallation): boolean {
  const isRead = read.some(
    ({ objectName, disabled }) => objectName === providerObject && !disabled,
  );
  return isRead || write.some(({ objectName }) => objectName === providerObject);
}

function createTooManyInstallationsError(groupRef: string): DomainError {
  return unprocessable(
    `The group ${groupRef} has more than ${INSTALLATIONS_MAX} installations, the maximum for reads and writes by the name of an object. Delete installations that the customer does not need.`,
  );
}

function createAmbiguousError(
  objectName: string,
  candidates: readonly [ServingInstallation, ServingInstallation],
): DomainError {
  const names = candidates.map(
    ({ installation, integration }) => `${integration.name} (${installation.id})`,
  );
  return unprocessable(
    `Two installations of the group ${candidates[0].group.groupRef} have the object ${objectName}: ${names.join(' and ')}. Map the object to another name in one of the integrations, or delete one of the installations.`,
  );
}

function createNotServedError(
  objectName: string,
  { groupRef }: Row<'Group'>,
  candidate: ServingInstallation | undefined,
): DomainError {
  const detail = candidate
    ? `The group ${groupRef}'s installation of ${candidate.integration.name} (${candidate.installation.id}) neither reads nor writes ${objectName}: add the object to its config.`
    : `The group ${groupRef} has no installation with the object ${objectName}: install an integration that has it.`;
  return new DomainError('NOT_FOUND', detail);
}
