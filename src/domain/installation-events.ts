/** What events about installations say of them. */
import type { Installation, InstallationConfig } from '../database/generated/client.ts';
import type { Transaction } from '../database/transaction.ts';
import type { EventData } from '../events/catalogue.ts';
import { configOf } from './installation-config.ts';

export type InstallationFields = Omit<EventData<'INSTALLATION_CREATED'>, 'config'>;

/** What every event about an installation says of it, as the transaction sees it. */
export async function installationFields(
  tx: Transaction,
  { id }: Pick<Installation, 'id'>,
): Promise<InstallationFields> {
  const [fields] = await listInstallationFields(tx, [id]);
  if (!fields) throw new Error(`Installation ${id} is gone.`);
  return fields;
}

/** The same for many, in no order; what is gone is left out. */
export async function listInstallationFields(
  tx: Transaction,
  ids: string[],
): Promise<InstallationFields[]> {
  const installations = await tx.installation.findMany({
    where: { id: { in: ids } },
    select: {
      id: true,
      projectId: true,
      connectionId: true,
      integration: { select: { id: true, name: true, provider: true } },
      group: { select: { groupRef: true, groupName: true } },
      connection: { select: { consumer: { select: { consumerRef: true, consumerName: true } } } },
    },
  });
  return installations.map(({ id, projectId, connectionId, integration, group, connection }) => ({
    projectId,
    provider: integration.provider,
    integrationId: integration.id,
    integrationName: integration.name,
    installationId: id,
    ...group,
    connectionId,
    ...connection.consumer,
  }));
}

/** A config as events carry it: what InstallationConfig is in queries. */
export function configData(config: Pick<InstallationConfig, 'id' | 'createTime' | 'content'>) {
  const { id, createTime } = config;
  return { id, ...configOf(config), createTime: createTime.toISOString() };
}
