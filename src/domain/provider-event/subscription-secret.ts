/** Secrets that providers make themselves for each subscription: kept sealed, found by the address that events come to. */
import type { Transaction } from '../../database/transaction.ts';
import { type IdPrefix, prefixOf } from '../../ids.ts';
import type { AddressedSubscription, WebhookRequest } from '../../providers/subscribing.ts';
import type { SealedLocation } from '../../secrets.ts';
import { DAY_MS } from '../../work/durations.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import type { SealedApp } from './webhook-secret.ts';

/** What was sent before a subscription was replaced may come so much later. */
const OVERLAP_MS = DAY_MS;
/** The parameter of an address that names the subscription. */
const NAME = 'subscription';

type Key = Pick<ObjectSubscription, 'projectId' | 'installationId' | 'objectName'>;

export function addressedTo(url: string, id: string): string {
  const address = new URL(url);
  address.searchParams.set(NAME, id);
  return address.href;
}

/** Empty if the address names none, or something else. */
export function namedIn(url: string, prefix: IdPrefix): string {
  const named = URL.parse(url)?.searchParams.get(NAME) ?? '';
  return prefixOf(named) === prefix ? named : '';
}

export interface NewSecrets {
  /** Of the address that the provider was given. */
  id: string;
  providerAppId: string;
  account: string;
  secrets: readonly string[];
}

/** In place of those before, which count for another day. */
export async function keepSecrets(
  { vault, now }: Pick<Services, 'vault' | 'now'>,
  tx: Transaction,
  { projectId, installationId, objectName }: Key,
  { id, secrets, ...known }: NewSecrets,
): Promise<void> {
  const key = { projectId, installationId, objectName };
  const expireTime = new Date(now().getTime() + OVERLAP_MS);
  await tx.subscriptionSecret.updateMany({
    where: { ...key, expireTime: null },
    data: { expireTime },
  });
  const secretsSealed = vault.seal(JSON.stringify(secrets), placeOf(id, projectId));
  await tx.subscriptionSecret.create({ data: { id, ...key, ...known, secretsSealed } });
}

/** Those that count no more. */
export async function forgetSecrets(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { projectId, installationId, objectName }: Key,
): Promise<void> {
  const where = { projectId, installationId, objectName, expireTime: { lte: now() } };
  await tx.subscriptionSecret.deleteMany({ where });
}

export interface Addressed {
  secrets: readonly string[];
  subscription: AddressedSubscription;
}

/** Null if the address names none of the app's. Without an app it looks too, so that its time doesn't tell. */
export async function findAddressed(
  { database, vault, now }: Pick<Services, 'database' | 'vault' | 'now'>,
  app: Pick<SealedApp, 'id' | 'projectId'> | null,
  { url }: Pick<WebhookRequest, 'url'>,
): Promise<Addressed | null> {
  const id = namedIn(url, 'sec');
  const { projectId = '', id: appId = '' } = app ?? {};
  const [row] = await database.rows.query<Found>(SECRETS, [projectId, id, appId, now()]);
  if (!row) return null;
  const { secretsSealed, ...subscription } = row;
  const opened: unknown = JSON.parse(vault.open(secretsSealed, placeOf(id, projectId)));
  const secrets = Array.isArray(opened) ? opened.filter((one) => typeof one === 'string') : [];
  return { secrets, subscription };
}

type Found = AddressedSubscription & { secretsSealed: string };

const SECRETS = `
  select "account", "objectName", "secretsSealed" from "SubscriptionSecret"
  where "projectId" = $1 and "id" = $2 and "providerAppId" = $3
    and ("expireTime" is null or "expireTime" > $4)`;

function placeOf(row: string, projectId: string): SealedLocation {
  return { table: 'SubscriptionSecret', column: 'secretsSealed', row, projectId };
}
