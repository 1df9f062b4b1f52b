/** Handles the return from a provider's consent page: creates or renews the connection. */

import { isMissingRow } from '../../../../database/connect/violations.ts';
import type { Row, Tables } from '../../../../database/statements/tables.ts';
import { DomainError, unprocessable } from '../../../../kernel/errors.ts';
import { nameInput, printText, type Text } from '../../../../kernel/text.ts';
import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { createMask, listBasicSecrets } from '../../../../work/secret-mask.ts';
import type {
  CoreServices,
  ProjectServices,
  ProviderServices,
  RowServices,
} from '../../../access/call.ts';
import { type InProject, inProject } from '../../../access/catalog.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import { isSetupProblem, recordSetupFailure } from '../../diagnosis/setup-failure.ts';
import { type Waiter, waitForProvider } from '../../provider/provider-wait.ts';
import { listWorkspaceIssues } from '../../provider/provider-workspace.ts';
import { startOAuthConnectInput } from '../connection-input.ts';
import { parseDate } from '../credentials.ts';
import { openCodeVerifier, type StoredFlowInput } from '../oauth-connect.ts';
import { toAccountMetadata } from '../oauth-connect-check.ts';
import type { ConnectionRequest } from '../put-connection.ts';
import { applyLogin } from '../session/account-address.ts';
import { dropIfTooLong, identifyAccount } from '../session/identify-account.ts';
import {
  findText,
  isClientRejection,
  requestTokens,
  type TokenResponse,
} from '../token/token-endpoint.ts';
import { findAppClient, getOAuthProvider } from '../token/token-request.ts';
import { storeAdminConsent } from './admin-consent.ts';
import { findOAuthFlowPage, type OAuthFlowPage } from './flow-page.ts';
import { isIssuedTo, type OAuthFlowKey, parseState } from './flow-ticket.ts';
import { findSignInUrl } from './oauth-link.ts';
import { storeConsent } from './store-consent.ts';

type OAuthFlow = Tables['OAuthConnect'];

/** The query of the callback, and the browser that sends it. */
interface CallbackParams {
  /** The secret in the browser's cookie. Null if there is none. */
  browser: string | null;
  state: string | null;
  code: string | null;
  error: string | null;
  errorDescription: string | null;
  /** True if an administrator has consented for an organization. */
  isAdminConsent: boolean;
}

export type CallbackOutcome =
  /** The person must still sign in at this URL. */
  | { kind: 'SIGN_IN'; url: string }
  /** The state does not exist, was used already, or has expired. */
  | { kind: 'UNKNOWN'; refusalPage: OAuthFlowPage | null }
  /** The state was issued to another browser, which can still use it. */
  | { kind: 'OTHER_BROWSER'; refusalPage: OAuthFlowPage | null }
  | ({ kind: 'CONNECTED'; connectionId: string } & ReturnPage)
  | ({ kind: 'FAILED' } & ShownFailure & ReturnPage);

interface Failure {
  /** An error code of RFC 6749, or a code of the provider. */
  error: string;
  detail: Text;
  /** True if the detail is the provider's own text. */
  isProviderText: boolean;
  /** True for a mistake in the project's setup, which customers can't correct. */
  isSetupProblem: boolean;
}

interface ShownFailure extends Failure {
  detail: string;
}

interface ReturnPage {
  /** The URL that receives the result. Null if the gateway's own page shows it. */
  redirectUrl: string | null;
  /** The content of the gateway's page. Null if the project was deleted, or if `redirectUrl` is set. */
  page: OAuthFlowPage | null;
}

/**
 * Finishes an OAuth flow and consumes its state, even if the flow fails. Throws RATE_LIMITED or SERVICE_UNAVAILABLE,
 * without consuming the state, if too many requests wait for providers.
 */
export async function finishOAuthFlow(
  services: Waiter,
  params: CallbackParams,
): Promise<CallbackOutcome> {
  const key = parseState(params.state);
  if (!key) return { kind: 'UNKNOWN', refusalPage: null };
  const { projectId } = key;
  if (!isIssuedTo(params.state, params.browser)) {
    return { kind: 'OTHER_BROWSER', refusalPage: await findRefusalPage(services, key) };
  }
  return waitForProvider(services, { projectId }, () => finishKnownFlow(services, key, params));
}

async function finishKnownFlow(
  services: ProviderServices,
  key: OAuthFlowKey,
  params: CallbackParams,
): Promise<CallbackOutcome> {
  if (params.isAdminConsent && params.state !== null) {
    const url = await findSignInUrl(services, key, params.state);
    if (url !== null) return { kind: 'SIGN_IN', url };
  }
  const flow = await takeOAuthFlow(services, key);
  if (!flow) return { kind: 'UNKNOWN', refusalPage: await findRefusalPage(services, key) };
  const { redirectUrl } = flow;
  const page = redirectUrl === null ? await findOAuthFlowPage(services, flow) : null;
  const returnPage = { redirectUrl, page };
  const redirect = readRedirect(params);
  if ('error' in redirect) {
    const failure = await maskFailure(services, flow, redirect);
    return failOAuthFlow(services, flow, { failure, returnPage });
  }
  try {
    const projectServices = await inProject(services, key.projectId);
    const connectionId = await createConnection(projectServices, flow, redirect.code);
    return { kind: 'CONNECTED', connectionId, ...returnPage };
  } catch (error) {
    return failOAuthFlow(services, flow, { failure: toFailure(error), returnPage });
  }
}

function findRefusalPage(services: RowServices, { projectId }: OAuthFlowKey) {
  return findOAuthFlowPage(services, { projectId, providerAppId: null });
}

/** Error codes of consent pages that a mistake in the setup causes (RFC 6749, section 4.1.2.1). */
const SETUP_ERRORS = new Set([
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'invalid_scope',
  'invalid_client',
  'redirect_uri_mismatch',
]);
/** The detail of a denial for which the provider gives no reason. */
const NO_REASON = 'The provider denied access.';

/** Returns the authorization code in the provider's redirect, or the failure that the redirect reports. */
function readRedirect({
  error,
  errorDescription,
  code,
}: CallbackParams): { code: string } | ShownFailure {
  if (error !== null) {
    return {
      error,
      detail: errorDescription ?? NO_REASON,
      isProviderText: errorDescription !== null,
      isSetupProblem: SETUP_ERRORS.has(error),
    };
  }
  if (code) return { code };
  const detail = 'The provider returned no authorization code.';
  return { error: 'invalid_request', detail, isProviderText: false, isSetupProblem: false };
}

/** Masks the secrets of the flow, which the provider may repeat in its redirect. */
async function maskFailure(
  services: ProviderServices,
  flow: OAuthFlow,
  failure: ShownFailure,
): Promise<ShownFailure> {
  const client = await findClient(await inProject(services, flow.projectId), flow);
  const verifier = openCodeVerifier(services, flow);
  const mask = createMask([
    ...(verifier ? [verifier] : []),
    ...(client ? listBasicSecrets(client.id, client.secret) : []),
  ]);
  return { ...failure, error: mask(failure.error), detail: mask(failure.detail) };
}

/** Converts an error of a provider or of the domain. Rethrows other errors. */
function toFailure(error: unknown): Failure {
  if (error instanceof ProviderError) {
    const isSetupProblem =
      isClientRejection(error) || (!error.isTemporary && error.kind !== 'AUTH_INVALIDATED');
    return {
      error: isSetupProblem ? 'invalid_request' : toErrorCode(error),
      detail: error.message,
      isProviderText: false,
      isSetupProblem,
    };
  }
  if (error instanceof DomainError) {
    return {
      error: 'invalid_request',
      detail: nameInput(error.detail, startOAuthConnectInput.meta()?.id),
      isProviderText: false,
      isSetupProblem: isSetupProblem(error),
    };
  }
  throw error;
}

async function failOAuthFlow(
  services: RowServices,
  { projectId, provider, input }: OAuthFlow,
  { failure, returnPage }: { failure: Failure; returnPage: ReturnPage },
): Promise<CallbackOutcome> {
  if (failure.isSetupProblem) {
    const { groupRef, consumerRef } = castJsonColumn<StoredFlowInput>(input);
    const [[group], [consumer]] = await Promise.all([
      services.database.reads.find('Group', { projectId, groupRef }),
      services.database.reads.find('Consumer', { projectId, consumerRef }),
    ]);
    const customer = group && consumer ? { group, consumer } : null;
    await recordSetupFailure(services, { projectId, provider, customer, error: failure.detail });
  }
  return { kind: 'FAILED', ...failure, detail: printText(failure.detail), ...returnPage };
}

/** Returns the flow and deletes its row, because a state works once. Null if it does not exist or has expired. */
async function takeOAuthFlow(
  { database, now }: RowServices,
  key: OAuthFlowKey,
): Promise<OAuthFlow | null> {
  try {
    const flow = await database.prisma.oAuthConnect.delete({ where: { projectId_id: key } });
    return flow.expireTime > now() ? flow : null;
  } catch (error) {
    if (isMissingRow(error)) return null;
    throw error;
  }
}

async function createConnection(
  services: ProjectServices,
  flow: OAuthFlow,
  code: string,
): Promise<string> {
  const { projectId, providerAppId, authScheme: scheme } = flow;
  const provider = getOAuthProvider(services, flow.provider);
  const input = castJsonColumn<StoredFlowInput>(flow.input);
  const response = await exchangeCode(services, flow, { code, input });
  if (provider.oauth2.adminConsent) {
    return storeAdminConsent(services, {
      flow,
      input,
      idToken: findText(response.body, 'id_token'),
    });
  }
  const names = readAccountNames(provider, response);
  const { providerConsumerRef, providerWorkspaceRef } = names;
  if (providerWorkspaceRef === null) requireWorkspace(provider, input);
  const request: ConnectionRequest = {
    projectId,
    scheme,
    providerConsumerRef,
    isWorkspaceFromToken: providerWorkspaceRef !== null,
    input: {
      ...input,
      provider: provider.name,
      providerAppId,
      providerWorkspaceRef: providerWorkspaceRef ?? input.providerWorkspaceRef ?? null,
      oauth2AuthorizationCode: toCredentials(response, input.scopes),
    },
  };
  const connection = await storeConsent(services, { request, names });
  await identifyAccount(services, connection);
  return connection.id;
}

/** Throws UNPROCESSABLE if the consent began without a workspace, and the token response names none. */
function requireWorkspace(provider: Provider, input: StoredFlowInput): void {
  const isKnown = toAccountMetadata(input).providerWorkspaceRef !== null;
  if (isKnown || !provider.oauth2?.sharedLogin || !provider.baseUrl.includes(WORKSPACE_VARIABLE))
    return;
  throw unprocessable(
    `${provider.displayName} did not name the workspace of the account. Connect again, and enter the workspace.`,
  );
}

/** Returns the account and the person that the token response names. */
function readAccountNames(
  provider: Provider & { oauth2: OAuth2Settings },
  { body }: TokenResponse,
): Pick<Row<'Connection'>, 'providerConsumerRef' | 'providerWorkspaceRef'> {
  const { tokenFields } = provider.oauth2;
  const workspaceName = findText(body, tokenFields?.workspaceRef);
  const workspace = workspaceName === null ? null : findWorkspace(provider, workspaceName);
  return {
    providerConsumerRef: dropIfTooLong(findText(body, tokenFields?.consumerRef)),
    providerWorkspaceRef: dropIfTooLong(workspace),
  };
}

/**
 * Returns the workspace that a token response names, by its name or by an address that contains it. Null if the name is
 * not a workspace of the provider.
 */
function findWorkspace(provider: Provider, workspaceName: string): string | null {
  const { baseUrl, oauth2 } = provider;
  const workspace = findWorkspaceInAddress(
    oauth2?.tokenFields?.workspaceAddress ?? baseUrl,
    workspaceName,
  );
  if (!baseUrl.includes(WORKSPACE_VARIABLE)) return workspace ?? workspaceName;
  return (
    [workspaceName, workspace].find(
      (name) => name !== null && listWorkspaceIssues(provider, name).length === 0,
    ) ?? null
  );
}

const WORKSPACE_VARIABLE = '{{workspace}}';

/** Returns the part of an address that stands for the variable in the template. Null if the address differs from it. */
function findWorkspaceInAddress(template: string, name: string): string | null {
  const [prefix = '', suffix] = template.split(WORKSPACE_VARIABLE);
  const address = name.replace(/\/+$/, '');
  if (suffix === undefined || !address.startsWith(prefix) || !address.endsWith(suffix)) return null;
  return address.slice(prefix.length, address.length - suffix.length);
}

/** Returns the OAuth client of the flow. Null if its provider app was deleted. */
function findClient(
  services: InProject<CoreServices>,
  { projectId, provider, providerAppId: id }: OAuthFlow,
) {
  return findAppClient(services, { projectId, id, provider });
}

async function exchangeCode(
  services: ProjectServices,
  flow: OAuthFlow,
  { code, input }: { code: string; input: StoredFlowInput },
): Promise<TokenResponse> {
  const client = await findClient(services, flow);
  if (!client) throw new ProviderError('BAD_REQUEST', 'The provider app no longer exists.');
  const verifier = openCodeVerifier(services, flow);
  const account = toAccountMetadata(input);
  return requestTokens(services, {
    provider: applyLogin(getOAuthProvider(services, flow.provider), account),
    account,
    client,
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: flow.callbackUrl,
      ...(verifier && { code_verifier: verifier }),
    },
  });
}

function toCredentials(
  { accessToken, refreshToken, scopes }: TokenResponse,
  requestedScopes: string[],
): ConnectionRequest['input']['oauth2AuthorizationCode'] {
  const { token, issuedAt, expiresAt } = accessToken;
  return {
    accessToken: { token, issueTime: parseDate(issuedAt), expireTime: parseDate(expiresAt) },
    refreshToken: refreshToken === undefined ? null : { token: refreshToken },
    scopes: scopes ?? requestedScopes,
  };
}

/** Returns the OAuth error code for the page to which the browser returns. */
function toErrorCode({ kind }: ProviderError): string {
  return kind === 'AUTH_INVALIDATED' ? 'access_denied' : 'temporarily_unavailable';
}
