/** Writes the rows of installations with their configs, objects and events in one transaction. */

import { RELEASED_LEASE } from '../../../database/leases/lease.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { recordEvent } from '../../../events/record.ts';
import { pickSubject } from '../../../events/subject.ts';
import { newId } from '../../../kernel/ids.ts';
import type { RowCall } from '../../access/call.ts';
import type { InProject } from '../../access/catalog.ts';
import { lockRow } from '../../access/row-changes.ts';
import { formatPrincipal } from '../../access/viewer/viewer.ts';
import {
  markSubscriptionsUnwanted,
  reconcileSubscriptions,
} from '../../data/provider-event/object-subscription.ts';
import { followSchema } from '../../data/schema-watch/schema-watch.ts';
import { recordDestinationUses } from '../../events/destination-uses.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import type { ParsedConfig } from './choice/installation-config-input.ts';
import {
  type ConfigContent,
  createStoredConfig,
  readConfigContent,
} from './installation-config.ts';
import {
  createConfigData,
  type InstallationFields,
  listInstallationFields,
  readInstallationFields,
} from './installation-events.ts';
import { setInstalledObjects } from './installed-object.ts';

type Installation = Row<'Installation'>;
type InstallationConfig = Row<'InstallationConfig'>;

/** Reads the installation and locks it until the transaction ends. Throws NOT_FOUND. */
export function lockInstallation(
  tx: Transaction,
  { id, projectId }: Pick<Installation, 'id' | 'projectId'>,
): Promise<Installation> {
  return lockRow(tx, 'Installation', { projectId, id, noun: 'Installation' });
}

interface RequestedConfig {
  /** Null means everything in the integration. */
  config: ParsedConfig | null;
  /** Null means the creator of the installation. */
  createdBy: string | null;
}

interface NewInstallation extends RequestedConfig {
  parties: Pick<Installation, 'projectId' | 'integrationId' | 'groupId' | 'connectionId'>;
  content: IntegrationContent;
}

export async function insertInstallation(
  call: InProject<RowCall>,
  tx: Transaction,
  { parties, content, config: requestedConfig, createdBy }: NewInstallation,
): Promise<Installation> {
  const configId = newId('cfg');
  const installation = await tx.installation.create({
    data: { id: newId('ins'), ...parties, configId, createdBy: formatPrincipal(call.viewer) },
  });
  const config = await insertConfig(tx, {
    installation,
    configId,
    content: createStoredConfig(requestedConfig, content),
    createdBy,
  });
  const installed = { installation, content, config: readConfigContent(config) };
  await setInstalledObjects(tx, { ...installed, now: call.now() });
  const fields = await readInstallationFields(tx, installation);
  const data = { ...fields, config: createConfigData(config) };
  await recordEvent(tx, { ...pickEventKey(fields), eventType: 'INSTALLATION_CREATED', data });
  await followSchema(call, tx, { installation, content });
  await reconcileSubscriptions(call, tx, installed);
  return reloadInstallation(tx, installation);
}

/** Reads the health at the end of a change. Triggers set it after the statement that returned the row. */
function reloadInstallation(
  tx: Transaction,
  { projectId, id }: Installation,
): Promise<Installation> {
  return tx.installation.findUniqueOrThrow({ where: { projectId_id: { projectId, id } } });
}

interface InstallationChange extends RequestedConfig {
  installation: Installation;
  connectionId: string;
  content: IntegrationContent;
}

/** Changes the connection, and stores a new config if the input has a config or a new author. */
export async function changeInstallation(
  call: InProject<RowCall>,
  tx: Transaction,
  change: InstallationChange,
): Promise<Installation> {
  const { installation: previousInstallation, connectionId, content } = change;
  const { projectId, id } = previousInstallation;
  const previousConfig = await tx.installationConfig.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: previousInstallation.configId } },
  });
  const config = await findOrCreateConfig(tx, change, previousConfig);
  const installation = await tx.installation.update({
    where: { projectId_id: { projectId, id } },
    data: { connectionId, configId: config.id, updateTime: call.now() },
  });
  const installed = { installation, content, config: readConfigContent(config) };
  const previousContent = readConfigContent(previousConfig);
  await setInstalledObjects(tx, { ...installed, before: previousContent, now: call.now() });
  if (connectionId !== previousInstallation.connectionId) {
    await resetReadPositions(tx, installation);
  }
  const fields = await readInstallationFields(tx, installation);
  const data = {
    ...fields,
    config: createConfigData(config),
    lastConfig: createConfigData(previousConfig),
  };
  await recordEvent(tx, { ...pickEventKey(fields), eventType: 'INSTALLATION_UPDATED', data });
  await reconcileSubscriptions(call, tx, installed);
  return reloadInstallation(tx, installation);
}

/**
 * Deletes installations of a project with their configs and objects. Connections and operations are kept. Returns a
 * function that records the events, which must run last in the transaction.
 */
export async function deleteInstallations(
  tx: Transaction,
  { projectId, installations }: { projectId: string; installations: readonly Installation[] },
  now: Date,
): Promise<() => Promise<void>> {
  const ids = installations.map(({ id }) => id);
  const deletedFields = await listInstallationFields(tx, projectId, ids);
  const configs = await tx.installationConfig.findMany({
    where: { projectId, id: { in: installations.map(({ configId }) => configId) } },
  });
  const configsByInstallation = new Map(configs.map((config) => [config.installationId, config]));
  await markSubscriptionsUnwanted(tx, installations, now);
  await tx.installation.deleteMany({ where: { projectId, id: { in: ids } } });
  // A paused read of a deleted installation must resume so that it can end.
  await tx.readRun.updateMany({
    where: { projectId, installationId: { in: ids }, paused: true },
    data: { paused: false },
  });
  return async () => {
    for (const fields of deletedFields) {
      const config = configsByInstallation.get(fields.installationId) as InstallationConfig;
      const data = { ...fields, config: createConfigData(config) };
      await recordEvent(tx, { ...pickEventKey(fields), eventType: 'INSTALLATION_DELETED', data });
    }
  };
}

/** Returns the previous config if the change has no new config or author. */
async function findOrCreateConfig(
  tx: Transaction,
  { installation, content, config, createdBy }: InstallationChange,
  previousConfig: InstallationConfig,
): Promise<InstallationConfig> {
  if (!config && createdBy === null) return previousConfig;
  return insertConfig(tx, {
    installation,
    configId: newId('cfg'),
    content: config ? createStoredConfig(config, content) : readConfigContent(previousConfig),
    createdBy: createdBy ?? previousConfig.createdBy,
  });
}

interface ConfigToStore {
  installation: Pick<Installation, 'id' | 'projectId'>;
  configId: string;
  content: ConfigContent;
  createdBy: string | null;
}

/** Stores a config, which becomes the current one. */
async function insertConfig(
  tx: Transaction,
  { installation, configId: id, content, createdBy }: ConfigToStore,
): Promise<InstallationConfig> {
  const { id: installationId, projectId } = installation;
  await recordDestinationUses(tx, { projectId, installationId }, content);
  const data = { id, projectId, installationId, content, createdBy };
  return tx.installationConfig.create({ data });
}

function pickEventKey(fields: InstallationFields) {
  const { projectId, connectionId, installationId } = fields;
  return { projectId, connectionId, installationId, subject: pickSubject(fields) };
}

/** Makes the next read a backfill, because another account has other records. */
async function resetReadPositions(
  tx: Transaction,
  { id: installationId, projectId }: Installation,
) {
  await tx.installedObject.updateMany({
    where: { projectId, installationId },
    data: { backfillDone: false, backfillOperationId: null, readUntil: null },
  });
  await tx.deliveredEntries.deleteMany({ where: { projectId, installationId } });
  // A running read of the previous account must not store its page or complete a backfill.
  await tx.readRun.updateMany({ where: { projectId, installationId }, data: RELEASED_LEASE });
}
