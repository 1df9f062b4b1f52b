/** The rows of installations (configs, objects) and the events of their changes: they go together. */
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { notFound } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import { subjectOf } from '../../events/subject.ts';
import { newId } from '../../ids.ts';
import { RELEASED_LEASE } from '../../work/lease.ts';
import type { Call } from '../call.ts';
import { recordDestinationUses } from '../event/destination-uses.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import { dropSubscriptions, followSubscriptions } from '../provider-event/object-subscription.ts';
import { followSchema } from '../schema-watch/schema-watch.ts';
import { actorOf } from '../viewer/viewer.ts';
import {
  type ConfigContent,
  configOf,
  type ParsedConfig,
  storedConfig,
} from './installation-config.ts';
import {
  configData,
  type InstallationFields,
  installationFields,
  listInstallationFields,
} from './installation-events.ts';
import { setInstalledObjects } from './installed-object.ts';

type Installation = Row<'Installation'>;
type InstallationConfig = Row<'InstallationConfig'>;

/** The installation as it is now, held until the transaction ends. Throws NOT_FOUND. */
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
  /** Null: all that the integration has. */
  config: ParsedConfig | null;
  /** Null: who creates the installation. */
  createdBy: string | null;
}

type Ends = Pick<Installation, 'projectId' | 'integrationId' | 'groupId' | 'connectionId'>;

export async function insertInstallation(
  call: Call,
  tx: Transaction,
  { ends, content, ...chosen }: { ends: Ends; content: IntegrationContent } & ChosenConfig,
): Promise<Installation> {
  const configId = newId('cfg');
  const installation = await tx.installation.create({
    data: { id: newId('ins'), ...ends, configId, createdBy: actorOf(call.viewer) },
  });
  const stored = { content: storedConfig(chosen.config, content), createdBy: chosen.createdBy };
  const config = await insertConfig(tx, { installation, configId, ...stored });
  await setInstalledObjects(tx, {
    installation,
    content,
    config: configOf(config),
    now: call.now(),
  });
  const fields = await installationFields(tx, installation);
  const data = { ...fields, config: configData(config) };
  await recordEvent(tx, { ...about(fields), eventType: 'INSTALLATION_CREATED', data });
  await followSchema(call, tx, { installation, content });
  await followSubscriptions(call, tx, { installation, content, config: configOf(config) });
  return installation;
}

interface InstallationChange extends ChosenConfig {
  installation: Installation;
  connectionId: string;
  content: IntegrationContent;
}

/** Another connection, or another config where one is given or someone else is said to have chosen it. */
export async function changeInstallation(
  call: Call,
  tx: Transaction,
  change: InstallationChange,
): Promise<Installation> {
  const { installation: before, connectionId, content } = change;
  const last = await tx.installationConfig.findUniqueOrThrow({
    where: { projectId_id: { projectId: before.projectId, id: before.configId } },
  });
  const config = await configAfter(tx, change, last);
  const installation = await tx.installation.update({
    where: { projectId_id: { projectId: before.projectId, id: before.id } },
    data: { connectionId, configId: config.id, updateTime: call.now() },
  });
  await setInstalledObjects(tx, {
    installation,
    content,
    before: configOf(last),
    config: configOf(config),
    now: call.now(),
  });
  if (connectionId !== before.connectionId) await forgetPositions(tx, installation);
  const fields = await installationFields(tx, installation);
  const data = { ...fields, config: configData(config), lastConfig: configData(last) };
  await recordEvent(tx, { ...about(fields), eventType: 'INSTALLATION_UPDATED', data });
  await followSubscriptions(call, tx, { installation, content, config: configOf(config) });
  return installation;
}

/**
 * Deletes some installations of a project with their configs and objects; connections and operations stay. Returns
 * a function that records their events: call it last in the transaction.
 */
export async function deleteInstallations(
  tx: Transaction,
  { projectId, some: installations }: { projectId: string; some: readonly Installation[] },
  now: Date,
): Promise<() => Promise<void>> {
  const ids = installations.map(({ id }) => id);
  const gone = await listInstallationFields(tx, projectId, ids);
  const configs = await tx.installationConfig.findMany({
    where: { projectId, id: { in: installations.map(({ configId }) => configId) } },
  });
  const configOfEach = new Map(configs.map((config) => [config.installationId, config]));
  await dropSubscriptions(tx, installations, now);
  await tx.installation.deleteMany({ where: { projectId, id: { in: ids } } });
  // A paused read of what is gone goes on, to its end.
  await tx.readRun.updateMany({
    where: { projectId, installationId: { in: ids }, paused: true },
    data: { paused: false },
  });
  return async () => {
    for (const fields of gone) {
      const config = configOfEach.get(fields.installationId) as InstallationConfig;
      const data = { ...fields, config: configData(config) };
      await recordEvent(tx, { ...about(fields), eventType: 'INSTALLATION_DELETED', data });
    }
  };
}

/** The one before if there is nothing new about it. */
async function configAfter(
  tx: Transaction,
  { installation, content, config, createdBy }: InstallationChange,
  last: InstallationConfig,
): Promise<InstallationConfig> {
  if (!config && createdBy === null) return last;
  const chosen = config ? storedConfig(config, content) : configOf(last);
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

/** The config that is in force from now on. */
async function insertConfig(
  tx: Transaction,
  { installation: { id: installationId, projectId }, configId: id, ...stored }: ConfigToStore,
): Promise<InstallationConfig> {
  await recordDestinationUses(tx, { projectId, installationId }, stored.content);
  return tx.installationConfig.create({ data: { id, projectId, installationId, ...stored } });
}

function about(fields: InstallationFields) {
  const { projectId, connectionId, installationId } = fields;
  return { projectId, connectionId, installationId, subject: subjectOf(fields) };
}

/** Another account has other records: its first read is a backfill again. */
async function forgetPositions(tx: Transaction, { id: installationId, projectId }: Installation) {
  await tx.installedObject.updateMany({
    where: { projectId, installationId },
    data: { backfillDone: false, backfillOperationId: null, readUntil: null },
  });
  // A page of the account before that is under way is not recorded, nor is it the end of a backfill.
  await tx.readRun.updateMany({ where: { projectId, installationId }, data: RELEASED_LEASE });
}
