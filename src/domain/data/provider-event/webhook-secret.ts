/** The address to which a provider sends events for an app, and the secrets that sign them. */

import type { Row } from '../../../database/statements/tables.ts';
import type { Services } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import {
  toClientSecretLocation,
  toPreviousSecretLocation,
  toWebhookSecretLocation,
} from '../../connections/provider/provider-app.ts';

export type Secrets = readonly [string, ...string[]];

/** A provider app with its secrets, as Prisma returns it without `omit`. */
export type SealedApp = Pick<Row<'ProviderApp'>, 'id' | 'projectId' | 'provider'> & {
  clientSecretSealed: string;
  webhookSecretSealed: string | null;
  previousWebhookSecretSealed: string | null;
  previousWebhookSecretExpireTime: Date | null;
};

export function toWebhookUrl(
  { publicUrl }: Pick<Services, 'publicUrl'>,
  { id, provider }: Pick<SealedApp, 'id' | 'provider'>,
): string {
  return `${publicUrl()}/webhooks/${encodeURIComponent(provider)}/${id}`;
}

/** Returns the address to which the provider sends events. Null if the provider sends none. */
export async function createWebhookUrl(
  services: Pick<Services, 'publicUrl' | 'catalogs'>,
  app: Pick<SealedApp, 'id' | 'provider' | 'projectId'>,
): Promise<string | null> {
  const provider = await findProviderOf(services, app);
  const { requests, list } = provider?.capabilities.subscribe ?? {};
  return requests || list ? toWebhookUrl(services, app) : null;
}

/** Returns instructions for setting up events at the provider. Null if the provider requires no manual steps. */
export async function createWebhookInstructions(
  services: Pick<Services, 'publicUrl' | 'catalogs'>,
  app: Pick<SealedApp, 'id' | 'provider' | 'projectId'>,
): Promise<string | null> {
  const provider = await findProviderOf(services, app);
  const capability = provider?.capabilities.subscribe;
  return capability?.instructions?.(toWebhookUrl(services, app)) ?? null;
}

/** Lists the current secret, then the previous secret until it expires. */
export function listWebhookSecrets(
  { vault, now }: Pick<Services, 'vault' | 'now'>,
  app: SealedApp,
): Secrets {
  const { id, projectId, webhookSecretSealed, previousWebhookSecretSealed } = app;
  const currentSecret =
    webhookSecretSealed === null
      ? vault.open(app.clientSecretSealed, toClientSecretLocation(id, projectId))
      : vault.open(webhookSecretSealed, toWebhookSecretLocation(id, projectId));
  const isExpired = (app.previousWebhookSecretExpireTime ?? new Date(0)) <= now();
  if (previousWebhookSecretSealed === null || isExpired) return [currentSecret];
  return [
    currentSecret,
    vault.open(previousWebhookSecretSealed, toPreviousSecretLocation(id, projectId)),
  ];
}
