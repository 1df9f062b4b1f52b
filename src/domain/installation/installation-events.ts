/** What events about installations say of them. */
import type { Installation, InstallationConfig } from '../../database/generated/client.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { EventData } from '../../events/catalogue.ts';
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
export function listInstallationFields(
  tx: Transaction,
  ids: string[],
): Promise<InstallationFields[]> {
  return tx.$queryRaw<InstallationFields[]>`
    select i."projectId", n."provider", n."id" as "integrationId", n."name" as "integrationName",
      i."id" as "installationId", g."groupRef", g."groupName", i."connectionId",
      u."consumerRef", u."consumerName"
    from "Installation" i
    join "Integration" n on n."id" = i."integrationId"
    join "Group" g on g."id" = i."groupId"
    join "Connection" c on c."id" = i."connectionId"
    join "Consumer" u on u."id" = c."consumerId"
    where i."id" = any(${ids}::text[])`;
}

/** A config as events carry it: what InstallationConfig is in queries. */
export function configData(config: Pick<InstallationConfig, 'id' | 'createTime' | 'content'>) {
  const { id, createTime } = config;
  return { id, ...configOf(config), createTime: createTime.toISOString() };
}
