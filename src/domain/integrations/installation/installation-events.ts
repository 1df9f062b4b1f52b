/** The data of events about installations. */
import {
  installationsWithParties,
  type WriteTarget,
} from '../../../database/statements/hot/write-target.ts';
import { anyOf, run } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import type { EventData } from '../../../events/event-types.ts';
import type { Subject } from '../../../events/subject.ts';
import { readConfigContent } from './installation-config.ts';

type InstallationConfig = Row<'InstallationConfig'>;

export type InstallationFields = Omit<EventData<'INSTALLATION_CREATED'>, 'config'> & Subject;

/** Reads the fields that each event of an installation has. */
export async function readInstallationFields(
  tx: Transaction,
  { id, projectId }: Pick<Row<'Installation'>, 'id' | 'projectId'>,
): Promise<InstallationFields> {
  const [fields] = await listInstallationFields(tx, projectId, [id]);
  if (!fields) throw new Error(`Bug: installation ${id} does not exist.`);
  return fields;
}

/**
 * Reads the event fields of several installations of a project, in no particular order. Deleted installations
 * are omitted.
 */
export function listInstallationFields(
  tx: Transaction,
  projectId: string,
  ids: string[],
): Promise<InstallationFields[]> {
  return run(
    tx,
    installationsWithParties
      .select([
        'installation.projectId',
        'installation.id as installationId',
        'installation.connectionId',
        'installation.groupId',
        'integration.provider',
        'integration.id as integrationId',
        'integration.name as integrationName',
        'group.groupRef',
        'group.groupName',
        'connection.consumerId',
        'consumer.consumerRef',
        'consumer.consumerName',
      ])
      .where('installation.projectId', '=', projectId)
      .where('installation.id', '=', anyOf(ids)),
  );
}

/** Returns the event fields of an installation that was read with its related rows. */
export function toInstallationFields({
  installation,
  integration,
  group,
  connection,
  consumer,
}: WriteTarget): InstallationFields {
  const { groupRef, groupName } = group;
  const { consumerRef, consumerName } = consumer;
  return {
    projectId: installation.projectId,
    connectionId: connection.id,
    installationId: installation.id,
    provider: integration.provider,
    integrationId: integration.id,
    integrationName: integration.name,
    groupId: group.id,
    groupRef,
    groupName,
    consumerId: consumer.id,
    consumerRef,
    consumerName,
  };
}

/** Returns a config for events, in the form of InstallationConfig in queries. */
export function createConfigData(
  config: Pick<InstallationConfig, 'id' | 'createTime' | 'content'>,
) {
  const { id, createTime } = config;
  return { id, ...readConfigContent(config), createTime: createTime.toISOString() };
}
