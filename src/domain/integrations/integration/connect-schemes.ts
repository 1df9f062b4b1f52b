/** Lists the schemes by which customers can connect accounts for an integration. */

import type { Row } from '../../../database/statements/tables.ts';
import { type AuthScheme, isConsentScheme } from '../../../providers/contract.ts';
import { findProviderOf } from '../../access/catalog.ts';
import type { Batch } from '../../access/scope.ts';

type IntegrationOfProject = Pick<Row<'Integration'>, 'projectId' | 'provider'>;

/** Omits schemes with a consent page if the project lacks what the page needs: a provider app, and scopes if required. */
export const listConnectSchemes: Batch<IntegrationOfProject, AuthScheme[]> = async (
  { database, catalogs },
  integrations,
) => {
  const apps = await database.reads.find('ProviderApp', {
    projectId: [...new Set(integrations.map(({ projectId }) => projectId))],
    provider: [...new Set(integrations.map(({ provider }) => provider))],
  });
  const providers = await Promise.all(
    integrations.map((integration) => findProviderOf({ catalogs }, integration)),
  );
  return integrations.map(({ projectId, provider: name }, index) => {
    const provider = providers[index];
    if (!provider) return [];
    // Consents use the newest app.
    const app = apps
      .filter((candidate) => candidate.projectId === projectId && candidate.provider === name)
      .reduce<Row<'ProviderApp'> | null>((a, b) => (a && a.id > b.id ? a : b), null);
    const needsScopes = provider.oauth2?.explicitScopesRequired === true;
    const canConsent = app !== null && (!needsScopes || app.scopes.length > 0);
    return provider.authSchemes.filter((scheme) => canConsent || !isConsentScheme(scheme));
  });
};
