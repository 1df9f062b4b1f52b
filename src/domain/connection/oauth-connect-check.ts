/** Validates the start of a connect in a browser, and reports every reason why it can't begin. */
import type { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { type Issue, invalid, invalidInput } from '../../errors.ts';
import {
  type AuthScheme,
  isConsentScheme,
  type OAuth2Settings,
  type Provider,
} from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { returnIssues } from '../project/origins.ts';
import { NOT_A_PROVIDER } from '../provider/catalogue.ts';
import { findPermittedProvider } from '../provider/provider.ts';
import { findDefaultApp } from '../provider/provider-app.ts';
import { comesWithToken, workspaceIssues } from '../provider/provider-workspace.ts';
import type { startOAuthConnectInput } from './connection-input.ts';
import { findPackageInstallUrl } from './consent/connect-page.ts';
import {
  type AccountFacts,
  addressProblems,
  factName,
  findWorkspaceRef,
} from './session/account-address.ts';
import { inputIssues } from './session/connect-inputs.ts';
import { unsealCredentials } from './session/stored-credentials.ts';
import { awaitsConsent } from './token/token.ts';

const PKCE: AuthScheme = 'OAUTH2_AUTHORIZATION_CODE_PKCE';

type Input = Omit<z.output<typeof startOAuthConnectInput>, 'projectIdOrName'>;

export interface ConnectPlan {
  provider: Provider & { oauth2: OAuth2Settings };
  scheme: AuthScheme;
  app: { id: string; packageInstallUrl: string | null };
  scopes: string[];
}

/** Throws BAD_USER_INPUT that names every offending input. */
export async function planConnect(
  call: Call,
  projectId: string,
  input: Input,
): Promise<ConnectPlan> {
  const provider = await findPermittedProvider(call, input.provider);
  if (!provider) {
    throw invalid('input.provider', NOT_A_PROVIDER, input.provider);
  }
  const { oauth2 } = provider;
  const [preferred] = listConsentSchemes(provider);
  if (!oauth2?.authorizeUrl || !preferred) {
    throw invalid('input.provider', 'has no OAuth consent page.', input.provider);
  }
  const account = toAccount(input);
  const app = await findApp(call, projectId, input);
  const scopes =
    input.scopes ?? (await requestedScopes(call, projectId, input)) ?? app?.scopes ?? [];
  const issues = [
    ...schemeIssues(provider, input),
    ...addressIssues(provider, oauth2, account),
    ...inputIssues(withoutAddressed(provider, oauth2), input),
    ...appIssues(app, input),
    ...(oauth2.explicitScopesRequired && app && scopes.length === 0
      ? [missingScopesIssue(provider)]
      : []),
    ...(await redirectIssues(call, projectId, input)),
  ];
  if (issues.length > 0 || !app) throw invalidInput(issues);
  return {
    provider: { ...provider, oauth2 },
    scheme: input.authScheme ?? preferred,
    app: { id: app.id, packageInstallUrl: findPackageInstallUrl(app) },
    scopes,
  };
}

/** The provider without the inputs that occur in its consent addresses, which are checked separately. */
function withoutAddressed(
  provider: Provider,
  { authorizeUrl, tokenUrl }: OAuth2Settings,
): Provider {
  const addresses = `${authorizeUrl} ${tokenUrl}`;
  const inputs = provider.inputs?.filter(({ name }) => !addresses.includes(`{{${name}}}`));
  return { ...provider, inputs: inputs ?? [] };
}

/** PKCE first: it protects the code if the redirect is intercepted. */
function listConsentSchemes({ authSchemes }: Provider): AuthScheme[] {
  const schemes = authSchemes.filter(isConsentScheme);
  return schemes.toSorted((a, b) => Number(b === PKCE) - Number(a === PKCE));
}

/** The values of the variables in the provider's URLs. */
export function toAccount({
  providerWorkspaceRef,
  providerMetadata,
}: Pick<Input, 'providerWorkspaceRef' | 'providerMetadata'>): AccountFacts {
  return {
    providerWorkspaceRef: findWorkspaceRef({ providerWorkspaceRef, providerMetadata }),
    providerMetadata,
  };
}

/** The scopes of an existing connection that waits for consent. Null if there is no such connection. */
async function requestedScopes(
  call: Call,
  projectId: string,
  { provider, groupRef, consumerRef }: Input,
): Promise<string[] | null> {
  const connection = await call.database.prisma.connection.findFirst({
    where: { projectId, provider, group: { groupRef }, consumer: { consumerRef } },
  });
  const credentials = connection && unsealCredentials(call, connection).credentials;
  return credentials && awaitsConsent(credentials) ? credentials.scopes : null;
}

/** The provider app in the input, or the newest app for the provider. */
async function findApp(
  { database }: Call,
  projectId: string,
  { provider, providerAppId }: Input,
): Promise<Row<'ProviderApp'> | null> {
  if (providerAppId != null) {
    const [app] = await database.rows.find('ProviderApp', { projectId, id: providerAppId });
    return app ?? null;
  }
  return findDefaultApp({ database }, { projectId, provider });
}

function appIssues(app: Row<'ProviderApp'> | null, { provider, providerAppId }: Input): Issue[] {
  if (app?.provider === provider) return [];
  const name = 'providerAppId';
  if (app) return [issue(name, `belongs to ${app.provider}, not to ${provider}.`, app.id)];
  if (providerAppId != null) return [issue(name, 'does not exist.', providerAppId)];
  return [issue(name, `is required: the project has no provider app for ${provider}.`)];
}

function schemeIssues(provider: Provider, { authScheme }: Input): Issue[] {
  const schemes = listConsentSchemes(provider);
  if (authScheme == null || schemes.includes(authScheme)) return [];
  const detail = `must be ${schemes.join(' or ')} for ${provider.name}.`;
  return [issue('authScheme', detail, authScheme)];
}

/** Issues with the workspace, and with other values that the addresses need before a token exists. */
function addressIssues(provider: Provider, oauth2: OAuth2Settings, account: AccountFacts): Issue[] {
  const { providerWorkspaceRef } = account;
  const isLearned = providerWorkspaceRef === null && comesWithToken(provider);
  const ofWorkspace = isLearned ? [] : workspaceIssues(provider, providerWorkspaceRef);
  const addresses = [oauth2.authorizeUrl, oauth2.tokenUrl].filter((url) => url !== undefined);
  const problems = addressProblems(provider, addresses, account);
  return [
    ...ofWorkspace,
    ...problems
      .filter(({ variable }) => variable !== 'workspace')
      .map(({ variable, detail }) => issue(factName(variable), detail)),
  ];
}

async function redirectIssues(call: Call, id: string, { redirectUrl }: Input): Promise<Issue[]> {
  if (redirectUrl == null) return [];
  const [project] = await call.database.rows.find('Project', { id });
  return project ? returnIssues(call, project, redirectUrl, 'redirectUrl') : [];
}

function missingScopesIssue({ displayName }: Provider): Issue {
  return issue('scopes', `are required for ${displayName}. Set them here or on the provider app.`);
}

function issue(field: string, detail: string, value?: string): Issue {
  const valueMember = value === undefined ? {} : { value };
  return { in: 'body', name: `input.${field}`, detail, ...valueMember };
}
