/**
 * Secrets that providers create for each subscription. They are stored sealed, and found by the address to which events
 * are sent.
 */

import { sqlStatement } from '../../../database/statements/statements.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { findPrefix, type IdPrefix } from '../../../kernel/ids.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import type { AddressedSubscription, WebhookRequest } from '../../../providers/subscribing.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { CoreServices, Services } from '../../access/call.ts';
import type { SubscriptionKey } from './object-subscription.ts';
import type { SealedApp, Secrets } from './webhook-secret.ts';

/** How long requests that were signed with replaced secrets may still arrive. */
const OVERLAP_MS = DAY_MS;
/** The query parameter with the id of the subscription. */
const ID_PARAMETER = 'subscription';

export function addIdToAddress(url: string, id: string): string {
  const address = new URL(url);
  address.searchParams.set(ID_PARAMETER, id);
  return address.href;
}

/** Returns the id in the address. Empty if the address has no id with this prefix. */
export function readIdFromAddress(url: string, prefix: IdPrefix): string {
  const id = URL.parse(url)?.searchParams.get(ID_PARAMETER) ?? '';
  return findPrefix(id) === prefix ? id : '';
}

interface NewSecrets {
  /** The id in the address that the provider has. */
  id: string;
  providerAppId: string;
  account: string;
  secrets: readonly string[];
}

/** Replaces the secrets. The previous secrets stay valid for another day. */
export async function replaceSecrets(
  { vault, now }: Pick<Services, 'vault' | 'now'>,
  tx: Transaction,
  { projectId, installationId, objectName }: SubscriptionKey,
  { id, secrets, ...columns }: NewSecrets,
): Promise<void> {
  const key = { projectId, installationId, objectName };
  const expireTime = new Date(now().getTime() + OVERLAP_MS);
  await tx.subscriptionSecret.updateMany({
    where: { ...key, expireTime: null },
    data: { expireTime },
  });
  const secretsSealed = vault.seal(JSON.stringify(secrets), toSealedLocation(id, projectId));
  await tx.subscriptionSecret.create({ data: { id, ...key, ...columns, secretsSealed } });
}

export async function deleteExpiredSecrets(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { projectId, installationId, objectName }: SubscriptionKey,
): Promise<void> {
  const where = { projectId, installationId, objectName, expireTime: { lte: now() } };
  await tx.subscriptionSecret.deleteMany({ where });
}

const SELECT_SECRETS = sqlStatement<SecretRow>(`
  select "account", "objectName", "secretsSealed" from "SubscriptionSecret"
  where "projectId" = $1 and "id" = $2 and "providerAppId" = $3
    and ("expireTime" is null or "expireTime" > $4)`);

type SecretRow = AddressedSubscription & { secretsSealed: string };

interface SubscriptionSecrets {
  secrets: Secrets;
  subscription: AddressedSubscription;
}

/**
 * Returns the subscription that the address of a request names. Null if it names no subscription of the app. The query
 * also runs without an app, so that the response time does not reveal whether the app exists.
 */
export async function findAddressedSubscription(
  { database, vault, now }: CoreServices,
  app: Pick<SealedApp, 'id' | 'projectId'> | null,
  { url }: Pick<WebhookRequest, 'url'>,
): Promise<SubscriptionSecrets | null> {
  const id = readIdFromAddress(url, 'sec');
  const { projectId = '', id: appId = '' } = app ?? {};
  const [row] = await database.run(SELECT_SECRETS, [projectId, id, appId, now()]);
  if (!row) return null;
  const { secretsSealed, ...subscription } = row;
  const secrets: Secrets = JSON.parse(vault.open(secretsSealed, toSealedLocation(id, projectId)));
  return { secrets, subscription };
}

function toSealedLocation(row: string, projectId: string): SealedLocation {
  return { table: 'SubscriptionSecret', column: 'secretsSealed', row, projectId };
}
