/** Handles the return from a provider's page of consent: creates or renews the connection. */
import type { Tables } from '../../../database/tables.ts';
import { isMissingRow } from '../../../database/violations.ts';
import { DomainError } from '../../../errors.ts';
import type { OAuth2Facts, Provider } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Services } from '../../call.ts';
import { type Waiter, waitingForProvider } from '../../provider/provider-wait.ts';
import { workspaceIssues } from '../../provider/provider-workspace.ts';
import { storedJson } from '../../storable-json.ts';
import { putConnection } from '../connection-putting.ts';
import { codeVerifierLocation, type StoredConnect } from '../oauth-connect.ts';
import { identifyAccount } from '../session/identify-account.ts';
import { requestTokens, type TokenResponse, textAt } from '../token/token-endpoint.ts';
import { findAppClient, getOAuthProvider } from '../token/token-request.ts';
import { type ConnectPage, findConnectPage } from './connect-page.ts';
import { type ConnectKey, findKeyOfState, isStateOf } from './connect-ticket.ts';

/** What a token answer tells of the account. */

interface AccountFacts {
  providerConsumerRef: string | null;
  /** What the caller gave, for an answer that names no workspace. */
  providerWorkspaceRef: string | null;
}

/** The same limit as for a workspace that a caller gives. */
const REF_LENGTH_MAX = 1_024;

function accountFacts(
  provider: Provider & { oauth2: OAuth2Facts },
  { facts }: TokenResponse,
  given: { providerWorkspaceRef?: string | null },
): AccountFacts {
  const { tokenFields } = provider.oauth2;
  const named = textAt(facts, tokenFields?.workspaceRef);
  const workspace = named === null ? null : workspaceOf(provider, named);
  return {
    providerConsumerRef: bounded(textAt(facts, tokenFields?.consumerRef)),
    providerWorkspaceRef: bounded(workspace) ?? given.providerWorkspaceRef ?? null,
  };
}

/** The name itself, or what is in the workspace's place in an address; null if it fits neither. */
function workspaceOf(provider: Provider, named: string): string | null {
  if (!provider.baseUrl.includes('{{workspace}}')) return named;
  if (workspaceIssues(provider, named).length === 0) return named;
  const [before = '', after = ''] = provider.baseUrl.split('{{workspace}}');
  const address = named.replace(/\/+$/, '');
  if (!address.startsWith(before) || !address.endsWith(after)) return null;
  const inPlace = address.slice(before.length, address.length - after.length);
  return workspaceIssues(provider, inPlace).length === 0 ? inPlace : null;
}

function bounded(text: string | null): string | null {
  return text !== null && text.length <= REF_LENGTH_MAX ? text : null;
}

type OAuthConnect = Tables['OAuthConnect'];

/** The query of the callback, and the browser that sends it. */
export interface CallbackParams {
  /** The secret of the browser; null if it sends none. */
  browser: string | null;
  state: string | null;
  code: string | null;
  error: string | null;
  errorDescription: string | null;
}

export type CallbackOutcome =
  /** There is no such state, it was used, or it has expired. */
  | { kind: 'UNKNOWN' }
  /** The state was given to another browser. It stays usable there. */
  | { kind: 'OTHER_BROWSER' }
  | ({ kind: 'CONNECTED'; connectionId: string } & Return)
  | ({ kind: 'FAILED'; error: string; detail: string } & Return);

interface Return {
  /** Null if the gateway's own page shows the result. */
  redirectUrl: string | null;
  /** Content of that page. Null if the project was deleted. */
  page: ConnectPage | null;
}

/**
 * Uses up the state of this browser, whatever the result. Throws RATE_LIMITED or SERVICE_UNAVAILABLE, and leaves the
 * state usable, if too many requests wait for providers.
 */
export async function finishOAuthConnect(
  services: Waiter,
  params: CallbackParams,
): Promise<CallbackOutcome> {
  const key = findKeyOfState(params.state);
  if (!key) return { kind: 'UNKNOWN' };
  if (!isStateOf(params.state, params.browser)) return { kind: 'OTHER_BROWSER' };
  const { projectId } = key;
  return waitingForProvider(services, { projectId }, () => finishConnect(services, key, params));
}

async function finishConnect(
  services: Services,
  key: ConnectKey,
  params: CallbackParams,
): Promise<CallbackOutcome> {
  const connect = await takeConnect(services, key);
  if (!connect) return { kind: 'UNKNOWN' };
  const { redirectUrl } = connect;
  const page = redirectUrl === null ? await findConnectPage(services, connect) : null;
  const back = { redirectUrl, page };
  const failed = (error: string, detail: string) =>
    ({ kind: 'FAILED', error, detail, ...back }) as const;
  if (params.error !== null) return failed(params.error, params.errorDescription ?? DENIED);
  if (!params.code) return failed('invalid_request', 'The provider sent no code.');
  try {
    const connectionId = await connectWith(services, connect, params.code);
    return { kind: 'CONNECTED', connectionId, ...back };
  } catch (error) {
    if (error instanceof ProviderError) return failed(codeOf(error), error.message);
    if (error instanceof DomainError) return failed('invalid_request', error.message);
    throw error;
  }
}
const DENIED = 'The provider did not allow it.';

/** Deletes the row that it finds: a state works once. */
async function takeConnect(
  { database, now }: Services,
  projectId_id: ConnectKey,
): Promise<OAuthConnect | null> {
  try {
    const connect = await database.prisma.oAuthConnect.delete({ where: { projectId_id } });
    return connect.expireTime > now() ? connect : null;
  } catch (error) {
    if (isMissingRow(error)) return null;
    throw error;
  }
}

async function connectWith(
  services: Services,
  connect: OAuthConnect,
  code: string,
): Promise<string> {
  const { projectId, providerAppId, authScheme: scheme } = connect;
  const provider = getOAuthProvider(services, connect.provider);
  const given = storedJson<StoredConnect>(connect.input);
  const response = await exchangeCode(services, connect, { code, given });
  const { providerConsumerRef, providerWorkspaceRef } = accountFacts(provider, response, given);
  const connection = await putConnection(services, {
    projectId,
    scheme,
    providerConsumerRef,
    input: {
      ...given,
      provider: provider.name,
      providerAppId,
      providerWorkspaceRef,
      oauth2AuthorizationCode: credentialsOf(response, given.scopes),
    },
  });
  await identifyAccount(services, connection);
  return connection.id;
}

async function exchangeCode(
  services: Services,
  connect: OAuthConnect,
  { code, given }: { code: string; given: StoredConnect },
): Promise<TokenResponse> {
  const { id, projectId, provider, providerAppId, codeVerifierSealed } = connect;
  const client = await findAppClient(services, { projectId, id: providerAppId, provider });
  if (!client) throw new ProviderError('BAD_REQUEST', 'The provider app is not there any more.');
  const verifier =
    codeVerifierSealed &&
    services.vault.open(codeVerifierSealed, codeVerifierLocation(id, projectId));
  return requestTokens(services, {
    provider: getOAuthProvider(services, provider),
    account: {
      providerWorkspaceRef: given.providerWorkspaceRef ?? null,
      providerMetadata: given.providerMetadata,
    },
    client,
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: connect.callbackUrl,
      ...(verifier && { code_verifier: verifier }),
    },
  });
}

function credentialsOf({ accessToken, refreshToken, scopes }: TokenResponse, requested: string[]) {
  const { token, issuedAt, expiresAt } = accessToken;
  return {
    accessToken: { token, issuedAt: dateOf(issuedAt), expiresAt: dateOf(expiresAt) },
    refreshToken: refreshToken === undefined ? null : { token: refreshToken },
    scopes: scopes ?? requested,
  };
}

function dateOf(isoText: string | undefined): Date | null {
  return isoText === undefined ? null : new Date(isoText);
}

/** OAuth's error codes, for the page that the browser is sent to. */
function codeOf({ kind, isTemporary }: ProviderError): string {
  if (kind === 'AUTH_INVALIDATED') return 'access_denied';
  return isTemporary ? 'temporarily_unavailable' : 'invalid_request';
}
