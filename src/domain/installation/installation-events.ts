/** What events about installations say of them. */

import { type InstalledAccount, installed } from '../../database/hot/write-target.ts';
import type { Row } from '../../database/rows.ts';
import { anyOf, run } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { EventData } from '../../events/event-types.ts';
import type { Subject } from '../../events/subject.ts';
import { configOf } from './installation-config.ts';

type Installation = Row<'Installation'>;
type InstallationConfig = Row<'InstallationConfig'>;

export type InstallationFields = Omit<EventData<'INSTALLATION_CREATED'>, 'config'> & Subject;

/** What every event about an installation says of it, as the transaction sees it. */
export async function installationFields(
  tx: Transaction,
  { id, projectId }: Pick<Installation, 'id' | 'projectId'>,
): Promise<InstallationFields> {
  const [fields] = await listInstallationFields(tx, projectId, [id]);
  if (!fields) throw new Error(`Installation ${id} is gone.`);
  return fields;
}

/** The same for many of a project, in no order; what is gone is left out. */
export function listInstallationFields(
  tx: Transaction,
  projectId: string,
  ids: string[],
): Promise<InstallationFields[]> {
  return run(
    tx,
    installed
      .select(['i.projectId', 'i.connectionId', 'i.id as installationId', 'n.provider'])
      .select(['n.id as integrationId', 'n.name as integrationName'])
      .select(['i.groupId', 'g.groupRef', 'g.groupName'])
      .select(['c.consumerId', 'u.consumerRef', 'u.consumerName'])
      .where('i.projectId', '=', projectId)
      .where('i.id', '=', anyOf(ids)),
  );
}

/** The same of one that was read with all that it takes. */
export function fieldsOf({
  installation,
  integration,
  group,
  account,
  consumer,
}: InstalledAccount): InstallationFields {
  const { groupRef, groupName } = group;
  const { consumerRef, consumerName } = consumer;
  return {
    projectId: installation.projectId,
    connectionId: account.id,
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

/** A config as events carry it: what InstallationConfig is in queries. */
export function configData(config: Pick<InstallationConfig, 'id' | 'createTime' | 'content'>) {
  const { id, createTime } = config;
  return { id, ...configOf(config), createTime: createTime.toISOString() };
}
