/** Manages provider apps, which are OAuth clients that the builder registered at providers. */

import { z } from 'zod';
import { isForeignKeyViolation, isMissingRow } from '../../../database/connect/violations.ts';
import { Prisma } from '../../../database/generated/client.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { notifySubscriptions } from '../../../events/channel.ts';
import { conflict, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import { isConsentScheme } from '../../../providers/contract.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call, CoreServices, ProjectCall } from '../../access/call.ts';
import { type InProject, inProject } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orPage } from '../../access/viewer/needs.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { projectIdOrName } from '../../base/names.ts';
import {
  computed,
  createdInProject,
  jsonObject,
  resource,
  updateTime,
} from '../../base/resource.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import { findTargets } from './credential-targets.ts';
import {
  type AppChanges,
  createProviderAppInput,
  listProviderIssues,
  parseChanges,
  updateProviderAppInput,
} from './provider-app-input.ts';

export const CALLBACK_PATH = '/oauth/callback';

/**
 * Returns the OAuth redirect URL to register at the provider. Null if customers of the provider do not consent in a
 * browser.
 */
function findRedirectUrl(
  { publicUrl, catalog }: Pick<ProjectCall, 'publicUrl' | 'catalog'>,
  { provider }: Pick<Row<'ProviderApp'>, 'provider'>,
): string | null {
  const { authSchemes = [] } = catalog.find(provider) ?? {};
  return authSchemes.some(isConsentScheme) ? publicUrl() + CALLBACK_PATH : null;
}

/** Warns of scopes with which the provider issues no refresh token. Apps without scopes get them from each OAuth flow. */
function listWarnings(
  { catalog }: Pick<ProjectCall, 'catalog'>,
  { provider: name, scopes }: Pick<Row<'ProviderApp'>, 'provider' | 'scopes'>,
): string[] {
  const provider = catalog.find(name);
  const { refreshTokenScopes } = provider?.oauth2 ?? {};
  if (!provider || !refreshTokenScopes || scopes.length === 0) return [];
  if (scopes.some((scope) => refreshTokenScopes.includes(scope))) return [];
  const names = refreshTokenScopes.map((scope) => `\`${scope}\``).join(' or ');
  return [
    `${provider.displayName} issues no refresh token without the scope ${names}: connections stop working when their access token expires. Add the scope, then connect the accounts again.`,
  ];
}

export const providerAppResource = resource(
  'ProviderApp',
  'An OAuth client that the builder has registered at a provider. No response contains its secret.',
  {
    ...createdInProject,
    provider: z.string().describe('The name of the provider.'),
    clientId: z.string().describe('The OAuth client id that the provider issued.'),
    externalRef: z.string().nullable().describe("The provider's own id for the app."),
    scopes: z.array(z.string()).describe('The OAuth scopes to request when a customer connects.'),
    metadata: computed(
      jsonObject
        .nullable()
        .describe(
          '`authQueryParams` (query parameters of the authorize URL) and `providerParams` (`packageInstallURL`, `workspaceHost`, `gcpProjectId`, `gcpPubSubTopicName`).',
        ),
      ({ metadata }: Row<'ProviderApp'>) => castJsonColumn(metadata),
    ),
    redirectUrl: computed(
      z.string().nullable().meta({
        wireName: 'redirectURL',
        description:
          'The OAuth redirect URL to register at the provider. {Null} if customers do not consent in a browser there.',
      }),
      async (app: Row<'ProviderApp'>, call: Call) =>
        findRedirectUrl(await inProject(call, app.projectId), app),
    ),
    warnings: computed(
      z
        .array(z.string())
        .describe('Problems with the settings that do not prevent connecting. Empty if none.'),
      async (app: Row<'ProviderApp'>, call: Call) =>
        listWarnings(await inProject(call, app.projectId), app),
    ),
    updateTime,
  },
);

const deleteProviderAppInput = z
  .object({ projectIdOrName, providerAppId: id.describe('The id of the provider app.') })
  .meta({ id: 'DeleteProviderAppInput', description: 'The provider app to delete.' });

const SECRET_COLUMNS = {
  clientSecretSealed: true,
  webhookSecretSealed: true,
  previousWebhookSecretSealed: true,
} as const;

/** How long a replaced secret still verifies requests of the provider. */
const OVERLAP_MS = DAY_MS;

export const providerAppFilters = z.object({
  provider: z.string().max(1_024).optional().describe('Only apps for the provider with this name.'),
});

export const listProviderApps = read(
  // The page that connects Salesforce reads the URL of the package to install.
  orPage('read'),
  'Lists provider apps, newest first.',
  (call: Call, project: Row<'Project'>, args: PageArgs & FiltersOf<typeof providerAppFilters>) => {
    const list = {
      name: 'Project.providerApps',
      parentId: project.id,
      table: 'ProviderApp',
    } as const;
    const where = { projectId: project.id, provider: args.provider ?? undefined };
    return listPage(call, { ...list, where }, args);
  },
);

/** Returns the newest app for the provider, which new connections use by default. Null if there is none. */
export async function findDefaultApp(
  { database }: Pick<Call, 'database'>,
  where: Pick<Row<'ProviderApp'>, 'projectId' | 'provider'>,
): Promise<Row<'ProviderApp'> | null> {
  const range = { column: 'id', direction: 'desc', limit: 1 } as const;
  const [app] = await database.reads.page('ProviderApp', where, range);
  return app ?? null;
}

export const createProviderApp = projectMutation({
  description:
    'Registers an OAuth client of the builder, with which customers connect to its provider.',
  needs: 'provider-apps:write',
  input: createProviderAppInput,
  async run(
    call,
    { provider, clientId, clientSecret, webhookSecret, externalRef, scopes, metadata },
    { id: projectId },
  ) {
    requireNoIssues(listProviderIssues(call, provider, ['provider']));
    const appId = newId('app');
    const webhookLocation = toWebhookSecretLocation(appId, projectId);
    return call.database.prisma.providerApp.create({
      data: {
        id: appId,
        projectId,
        provider,
        clientId,
        clientSecretSealed: call.vault.seal(clientSecret, toClientSecretLocation(appId, projectId)),
        webhookSecretSealed: webhookSecret ? call.vault.seal(webhookSecret, webhookLocation) : null,
        externalRef,
        scopes: scopes ?? [],
        metadata: metadata ?? undefined,
        credentialTargets: findTargets(call.catalog.find(provider)),
      },
      omit: SECRET_COLUMNS,
    });
  },
});

/** Throws CONFLICT if the provider changes while connections use the app. */
export const updateProviderApp = projectMutation({
  description: 'Updates the fields of a provider app that updateMask names.',
  needs: 'provider-apps:write',
  input: updateProviderAppInput,
  async run(call, input, { id: projectId }): Promise<Row<'ProviderApp'>> {
    const { providerAppId: appId } = input;
    const currentApp = await getProjectRow(call, 'ProviderApp', {
      projectId,
      id: appId,
      noun: 'Provider app',
    });
    const changes = parseChanges(call, input);
    const columns = toColumns(call, currentApp, changes);
    const data = { ...columns, updateTime: call.now() };
    return requireApp(
      appId,
      inTransaction(call.database, async (tx) => {
        const where = { projectId_id: { projectId, id: appId } };
        const secretColumns =
          isRotated(changes) && (await rotateWebhookSecret(call, tx, currentApp));
        const app = await tx.providerApp.update({
          where,
          data: { ...data, ...secretColumns },
          omit: SECRET_COLUMNS,
        });
        // The update has locked the row, so no connection can be created until the transaction ends.
        if (changes.provider !== undefined) await refuseOtherProviders(tx, app);
        return app;
      }),
    );
  },
});

export const deleteProviderApp = projectMutation({
  description: 'Deletes a provider app that no connection uses.',
  needs: 'provider-apps:write',
  input: deleteProviderAppInput,
  async run(call, input, { id: projectId }): Promise<{ deletedId: string }> {
    const appId = input.providerAppId;
    const where = { projectId_id: { projectId, id: appId } };
    try {
      await requireApp(
        appId,
        call.database.prisma.providerApp.delete({ where, select: { id: true } }),
      );
    } catch (error) {
      if (isForeignKeyViolation(error)) throw createInUseError();
      throw error;
    }
    return { deletedId: appId };
  },
});

function toColumns(
  { vault, catalog }: InProject<CoreServices>,
  app: Row<'ProviderApp'>,
  { clientSecret, webhookSecret, scopes, metadata, ...changes }: AppChanges,
): Prisma.ProviderAppUpdateInput {
  const webhookLocation = toWebhookSecretLocation(app.id, app.projectId);
  const clientSecretSealed =
    clientSecret && vault.seal(clientSecret, toClientSecretLocation(app.id, app.projectId));
  return {
    ...changes,
    clientSecretSealed,
    ...(clientSecret && {
      credentialTargets: findTargets(catalog.find(changes.provider ?? app.provider)),
    }),
    webhookSecretSealed: webhookSecret ? vault.seal(webhookSecret, webhookLocation) : webhookSecret,
    scopes: scopes === null ? [] : scopes,
    metadata: metadata === null ? Prisma.DbNull : metadata,
  };
}

/** Returns the location to which a sealed client secret is bound. */
export function toClientSecretLocation(row: string, projectId: string): SealedLocation {
  return { table: 'ProviderApp', column: 'clientSecretSealed', row, projectId };
}

export function toWebhookSecretLocation(row: string, projectId: string): SealedLocation {
  return { table: 'ProviderApp', column: 'webhookSecretSealed', row, projectId };
}

/** Returns the only host that may receive the app's secret, if customers enter the host. Undefined if the app names none. */
export function findWorkspaceHost({ metadata }: { metadata: unknown }): string | undefined {
  const { providerParams } = (metadata ?? {}) as { providerParams?: { workspaceHost?: string } };
  return providerParams?.workspaceHost;
}

export function toPreviousSecretLocation(row: string, projectId: string): SealedLocation {
  return { table: 'ProviderApp', column: 'previousWebhookSecretSealed', row, projectId };
}

function isRotated(changes: AppChanges): boolean {
  return changes.webhookSecret !== undefined || changes.clientSecret !== undefined;
}

/** Keeps the previous secret valid for another day, and schedules the renewal of subscriptions at the provider. */
async function rotateWebhookSecret(
  { vault, now }: CoreServices,
  tx: Transaction,
  { id, projectId }: Row<'ProviderApp'>,
): Promise<Prisma.ProviderAppUpdateInput> {
  const where = { projectId_id: { projectId, id } };
  const app = await tx.providerApp.findUniqueOrThrow({ where });
  const secret =
    app.webhookSecretSealed === null
      ? vault.open(app.clientSecretSealed, toClientSecretLocation(id, projectId))
      : vault.open(app.webhookSecretSealed, toWebhookSecretLocation(id, projectId));
  await tx.objectSubscription.updateMany({
    where: { projectId, providerAppId: id, providerRef: { not: null } },
    data: { dueTime: now() },
  });
  notifySubscriptions(tx);
  return {
    previousWebhookSecretSealed: vault.seal(secret, toPreviousSecretLocation(id, projectId)),
    previousWebhookSecretExpireTime: new Date(now().getTime() + OVERLAP_MS),
  };
}

async function refuseOtherProviders(tx: Transaction, app: Row<'ProviderApp'>): Promise<void> {
  const { id: providerAppId, projectId, provider } = app;
  const where = { projectId, providerAppId, provider: { not: provider } };
  if (await tx.connection.findFirst({ where, select: { id: true } })) throw createInUseError();
}

function createInUseError() {
  return conflict('Connections use the provider app. Delete them first.');
}

async function requireApp<T>(appId: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isMissingRow(error)) throw notFound('Provider app', appId);
    throw error;
  }
}
