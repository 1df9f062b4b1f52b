/** Writes the rows of installations with their configs, objects and events in one transaction. */
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { notFound } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import { pickSubject } from '../../events/subject.ts';
import { newId } from '../../ids.ts';
import { RELEASED_LEASE } from '../../work/lease.ts';
import type { Call } from '../call.ts';
import { recordDestinationUses } from '../event/destination-uses.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import {
  markSubscriptionsUnwanted,
  reconcileSubscriptions,
} from '../provider-event/object-subscription.ts';
import { followSchema } from '../schema-watch/schema-watch.ts';
import { formatActor } from '../viewer/viewer.ts';
import {
  type ConfigContent,
  createStoredConfig,
  type ParsedConfig,
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
export async function lockInstallation(
  tx: Transaction,
  { id, projectId }: Pick<Installation, 'id' | 'projectId'>,
): Promise<Installation> {
  const [installation] = await run(
    tx,
    statements
      .selectFrom('Installation')
      .selectAll()
      .where('id', '=', id)
      .where('projectId', '=', projectId)
      .forUpdate(),
  );
  if (!installation) throw notFound('Installation', id);
  return installation;
}

interface ChosenConfig {
  /** Null means everything in the integration. */
  config: ParsedConfig | null;
  /** Null means the creator of the installation. */
  createdBy: string | null;
}

type Parties = Pick<Installation, 'projectId' | 'integrationId' | 'groupId' | 'connectionId'>;

export async function insertInstallation(
  call: Call,
  tx: Transaction,
  { parties, content, ...chosen }: { parties: Parties; content: IntegrationContent } & ChosenConfig,
): Promise<Installation> {
  const configId = newId('cfg');
  const installation = await tx.installation.create({
    data: { id: newId('ins'), ...parties, configId, createdBy: formatActor(call.viewer) },
  });
  const stored = {
    content: createStoredConfig(chosen.config, content),
    createdBy: chosen.createdBy,
  };
  const config = await insertConfig(tx, { installation, configId, ...stored });
  await setInstalledObjects(tx, {
    installation,
    content,
    config: readConfigContent(config),
    now: call.now(),
  });
  const fields = await readInstallationFields(tx, installation);
  const data = { ...fields, config: createConfigData(config) };
  await recordEvent(tx, { ...pickKey(fields), eventType: 'INSTALLATION_CREATED', data });
  await followSchema(call, tx, { installation, content });
  await reconcileSubscriptions(call, tx, {
    installation,
    content,
    config: readConfigContent(config),
  });
  return withHealth(tx, installation);
}

/**
 * Reads the installation again at the end of its change. Triggers set the health after the statement that
 * returned the row.
 */
function withHealth(tx: Transaction, { projectId, id }: Installation): Promise<Installation> {
  return tx.installation.findUniqueOrThrow({ where: { projectId_id: { projectId, id } } });
}

interface InstallationChange extends ChosenConfig {
  installation: Installation;
  connectionId: string;
  content: IntegrationContent;
}

/** Changes the connection, and stores a new config if the input has a config or a new author of it. */
export async function changeInstallation(
  call: Call,
  tx: Transaction,
  change: InstallationChange,
): Promise<Installation> {
  const { installation: before, connectionId, content } = change;
  const last = await tx.installationConfig.findUniqueOrThrow({
    where: { projectId_id: { projectId: before.projectId, id: before.configId } },
  });
  const config = await findOrCreateConfig(tx, change, last);
  const installation = await tx.installation.update({
    where: { projectId_id: { projectId: before.projectId, id: before.id } },
    data: { connectionId, configId: config.id, updateTime: call.now() },
  });
  await setInstalledObjects(tx, {
    installation,
    content,
    before: readConfigContent(last),
    config: readConfigContent(config),
    now: call.now(),
  });
  if (connectionId !== before.connectionId) await forgetPositions(tx, installation);
  const fields = await readInstallationFields(tx, installation);
  const data = { ...fields, config: createConfigData(config), lastConfig: createConfigData(last) };
  await recordEvent(tx, { ...pickKey(fields), eventType: 'INSTALLATION_UPDATED', data });
  await reconcileSubscriptions(call, tx, {
    installation,
    content,
    config: readConfigContent(config),
  });
  return withHealth(tx, installation);
}

/**
 * Deletes installations of a project with their configs and objects. Connections and operations stay. Returns a
 * function that records the events, which must run last in the transaction.
 */
export async function deleteInstallations(
  tx: Transaction,
  { projectId, some: installations }: { projectId: string; some: readonly Installation[] },
  now: Date,
): Promise<() => Promise<void>> {
  const ids = installations.map(({ id }) => id);
  const deletedFields = await listInstallationFields(tx, projectId, ids);
  const configs = await tx.installationConfig.findMany({
    where: { projectId, id: { in: installations.map(({ configId }) => configId) } },
  });
  const configOfEach = new Map(configs.map((config) => [config.installationId, config]));
  await markSubscriptionsUnwanted(tx, installations, now);
  await tx.installation.deleteMany({ where: { projectId, id: { in: ids } } });
  // A paused read of a deleted installation must resume so that it can end.
  await tx.readRun.updateMany({
    where: { projectId, installationId: { in: ids }, paused: true },
    data: { paused: false },
  });
  return async () => {
    for (const fields of deletedFields) {
      const config = configOfEach.get(fields.installationId) as InstallationConfig;
      const data = { ...fields, config: createConfigData(config) };
      await recordEvent(tx, { ...pickKey(fields), eventType: 'INSTALLATION_DELETED', data });
    }
  };
}

/** Returns the previous config if the change has no new config or author. */
async function findOrCreateConfig(
  tx: Transaction,
  { installation, content, config, createdBy }: InstallationChange,
  last: InstallationConfig,
): Promise<InstallationConfig> {
  if (!config && createdBy === null) return last;
  const chosen = config ? createStoredConfig(config, content) : readConfigContent(last);
  return insertConfig(tx, {
    installation,
    configId: newId('cfg'),
    content: chosen,
    createdBy: createdBy ?? last.createdBy,
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
  { installation: { id: installationId, projectId }, configId: id, ...stored }: ConfigToStore,
): Promise<InstallationConfig> {
  await recordDestinationUses(tx, { projectId, installationId }, stored.content);
  return tx.installationConfig.create({ data: { id, projectId, installationId, ...stored } });
}

function pickKey(fields: InstallationFields) {
  const { projectId, connectionId, installationId } = fields;
  return { projectId, connectionId, installationId, subject: pickSubject(fields) };
}

/** Resets the read positions, because another account has other records. Its first read is a backfill again. */
async function forgetPositions(tx: Transaction, { id: installationId, projectId }: Installation) {
  await tx.installedObject.updateMany({
    where: { projectId, installationId },
    data: { backfillDone: false, backfillOperationId: null, readUntil: null },
  });
  // A running read of the previous account must not store its page or complete a backfill.
  await tx.readRun.updateMany({ where: { projectId, installationId }, data: RELEASED_LEASE });
}
