/** Checks the input that starts an OAuth flow in a browser, and chooses the scheme, the app and the scopes. */

import type { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { type Issue, invalid, invalidInput } from '../../../kernel/errors.ts';
import { joinTexts, text } from '../../../kernel/text.ts';
import {
  type AuthScheme,
  isConsentScheme,
  type OAuth2Settings,
  type Provider,
} from '../../../providers/contract.ts';
import type { Call, ProjectCall, RowServices } from '../../access/call.ts';
import { NOT_A_PROVIDER } from '../../access/catalog.ts';
import { listReturnIssues } from '../../access/origins.ts';
import { createInputIssue } from '../../base/issues.ts';
import { findPermittedProvider, nameScheme } from '../provider/provider.ts';
import { findDefaultApp, findWorkspaceHost } from '../provider/provider-app.ts';
import { getsWorkspaceFromToken, listWorkspaceIssues } from '../provider/provider-workspace.ts';
import type { startOAuthConnectInput } from './connection-input.ts';
import { findPackageInstallUrl } from './consent/flow-page.ts';
import {
  type AccountMetadata,
  applyLogin,
  findWorkspaceRef,
  listAddressProblems,
  toInputPath,
} from './session/account-address.ts';
import { listInputIssues } from './session/declared-inputs.ts';
import { tryUnsealCredentials } from './session/stored-credentials.ts';
import { awaitsConsent } from './token/token.ts';

const PKCE: AuthScheme = 'OAUTH2_AUTHORIZATION_CODE_PKCE';

type Input = Omit<z.output<typeof startOAuthConnectInput>, 'projectIdOrName'>;

export interface OAuthFlowSetup {
  provider: Provider;
  scheme: AuthScheme;
  app: { id: string; packageInstallUrl: string | null };
  scopes: string[];
}

/**
 * Returns the provider, scheme, app and scopes of a new OAuth flow. Throws BAD_USER_INPUT that names every issue of the
 * input.
 */
export async function prepareOAuthFlow(
  call: ProjectCall,
  projectId: string,
  input: Input,
): Promise<OAuthFlowSetup> {
  const provider = await findPermittedProvider(call, input.provider);
  if (!provider) {
    throw invalid(['provider'], NOT_A_PROVIDER, input.provider);
  }
  const [preferredScheme] = listConsentSchemes(provider);
  if (!provider.oauth2?.authorizeUrl || !preferredScheme) {
    throw invalid(['provider'], 'has no OAuth consent page.', input.provider);
  }
  const account = toAccountMetadata(input);
  const { oauth2 } = applyLogin({ ...provider, oauth2: provider.oauth2 }, account);
  const app = await findApp(call, projectId, input);
  const scopes =
    input.scopes ?? (await findRequestedScopes(call, projectId, input)) ?? app?.scopes ?? [];
  const issues = [
    ...listSchemeIssues(provider, input),
    ...listAddressIssues(provider, oauth2, account),
    ...listInputIssues(omitAddressInputs(provider, oauth2), input),
    ...listRequiredAppIssues(app, input),
    ...listAppHostIssues(provider, app, account),
    ...(oauth2.explicitScopesRequired && app && scopes.length === 0
      ? [createMissingScopesIssue(provider)]
      : []),
    ...(await listRedirectIssues(call, projectId, input)),
  ];
  if (issues.length > 0 || !app) throw invalidInput(issues);
  return {
    provider,
    scheme: input.authScheme ?? preferredScheme,
    app: { id: app.id, packageInstallUrl: findPackageInstallUrl(app) },
    scopes,
  };
}

/** Omits the inputs that are variables of the consent addresses. `listAddressIssues` checks them. */
function omitAddressInputs(
  provider: Provider,
  { authorizeUrl, tokenUrl }: OAuth2Settings,
): Provider {
  const addresses = `${authorizeUrl} ${tokenUrl}`;
  const inputs = provider.inputs?.filter(({ name }) => !addresses.includes(`{{${name}}}`));
  return { ...provider, inputs: inputs ?? [] };
}

/** Lists the schemes with a consent page. PKCE comes first, because it protects the code if a redirect is intercepted. */
function listConsentSchemes({ authSchemes }: Provider): AuthScheme[] {
  const schemes = authSchemes.filter(isConsentScheme);
  return schemes.toSorted((a, b) => Number(b === PKCE) - Number(a === PKCE));
}

/** Returns the metadata that fills in the variables of the provider's URLs. */
export function toAccountMetadata({
  providerWorkspaceRef,
  providerMetadata,
}: Pick<Input, 'providerWorkspaceRef' | 'providerMetadata'>): AccountMetadata {
  return {
    providerWorkspaceRef: findWorkspaceRef({ providerWorkspaceRef, providerMetadata }),
    providerMetadata,
  };
}

/** Returns the scopes of an existing connection that awaits consent. Null if there is no such connection. */
async function findRequestedScopes(
  call: Call,
  projectId: string,
  { provider, groupRef, consumerRef }: Input,
): Promise<string[] | null> {
  const connection = await call.database.prisma.connection.findFirst({
    where: { projectId, provider, group: { groupRef }, consumer: { consumerRef } },
  });
  const credentials = connection && tryUnsealCredentials(call, connection)?.credentials;
  return credentials && awaitsConsent(credentials) ? credentials.scopes : null;
}

/** Finds the provider app of the input, or else the newest app for the provider. */
async function findApp(
  { database }: RowServices,
  projectId: string,
  { provider, providerAppId }: Input,
): Promise<Row<'ProviderApp'> | null> {
  if (providerAppId != null) {
    const [app] = await database.reads.find('ProviderApp', { projectId, id: providerAppId });
    return app ?? null;
  }
  return findDefaultApp({ database }, { projectId, provider });
}

/** Checks the provider app that the consent needs: the one that the input names, or the default of the provider. */
function listRequiredAppIssues(
  app: Row<'ProviderApp'> | null,
  { provider, providerAppId }: Input,
): Issue[] {
  if (app?.provider === provider) return [];
  const path = ['providerAppId'];
  if (app) {
    return [createInputIssue(path, `belongs to ${app.provider}, not to ${provider}.`, app.id)];
  }
  if (providerAppId != null) return [createInputIssue(path, 'does not exist.', providerAppId)];
  return [createInputIssue(path, `is required: the project has no provider app for ${provider}.`)];
}

/** Lists the issue with a host that the customer entered, if it is not the one that the provider app names. */
function listAppHostIssues(
  { hasCustomerHost }: Provider,
  app: Row<'ProviderApp'> | null,
  { providerWorkspaceRef }: AccountMetadata,
): Issue[] {
  if (!hasCustomerHost || !app || providerWorkspaceRef === null) return [];
  const host = findWorkspaceHost(app);
  if (host === providerWorkspaceRef.toLowerCase()) return [];
  const detail =
    host === undefined
      ? "can't be used: set providerParams.workspaceHost of the provider app, the host that may receive its secret."
      : `must be ${host}, the workspaceHost of the provider app.`;
  return [createInputIssue(['providerWorkspaceRef'], detail, providerWorkspaceRef)];
}

function listSchemeIssues(provider: Provider, { authScheme }: Input): Issue[] {
  const schemes = listConsentSchemes(provider);
  if (authScheme == null || schemes.includes(authScheme)) return [];
  const detail = text`must be ${joinTexts(schemes.map(nameScheme), ' or ')} for ${provider.name}.`;
  return [createInputIssue(['authScheme'], detail, authScheme)];
}

/** Lists issues with the workspace and the other variables in the addresses of the consent page and the token endpoint. */
function listAddressIssues(
  provider: Provider,
  oauth2: OAuth2Settings,
  account: AccountMetadata,
): Issue[] {
  const { providerWorkspaceRef } = account;
  const isInTokenResponse =
    providerWorkspaceRef === null && (getsWorkspaceFromToken(provider) || oauth2.sharedLogin);
  const workspaceIssues = isInTokenResponse
    ? []
    : listWorkspaceIssues(provider, providerWorkspaceRef);
  const addresses = [oauth2.authorizeUrl, oauth2.tokenUrl].filter((url) => url !== undefined);
  const problems = listAddressProblems(provider, addresses, account);
  return [
    ...workspaceIssues,
    ...problems
      .filter(({ variable }) => variable !== 'workspace')
      .map(({ variable, detail }) => createInputIssue(toInputPath(variable), detail)),
  ];
}

async function listRedirectIssues(
  call: Call,
  id: string,
  { redirectUrl }: Input,
): Promise<Issue[]> {
  if (redirectUrl == null) return [];
  const [project] = await call.database.reads.find('Project', { id });
  return project ? listReturnIssues(call, project, redirectUrl, 'redirectUrl') : [];
}

function createMissingScopesIssue({ displayName }: Provider): Issue {
  return createInputIssue(
    ['scopes'],
    `are required for ${displayName}. Set them here or on the provider app.`,
  );
}
