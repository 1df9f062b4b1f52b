/** Opens the link of an OAuth flow: returns the URL of the provider's consent page. */

import { hash } from 'node:crypto';
import type { Row, Tables } from '../../../../database/statements/tables.ts';
import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import type {
  CoreServices,
  ProviderServices,
  RowServices,
  Services,
} from '../../../access/call.ts';
import { inProject } from '../../../access/catalog.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import { openCodeVerifier, type StoredFlowInput } from '../oauth-connect.ts';
import { toAccountMetadata } from '../oauth-connect-check.ts';
import { applyLogin, fillAddress } from '../session/account-address.ts';
import { tryUnsealCredentials } from '../session/stored-credentials.ts';
import { awaitsConsent } from '../token/token.ts';
import { getOAuthProvider } from '../token/token-request.ts';
import { findOAuthFlowPage, type OAuthFlowPage } from './flow-page.ts';
import { createState, type OAuthFlowKey, parseTicket } from './flow-ticket.ts';

export interface OpenedLink {
  /** The URL of the provider's consent page. Its `state` works only in the browser that opened the link. */
  consentUrl: string;
  providerName: string;
  group: PartyName;
  consumer: PartyName;
  page: OAuthFlowPage;
}

/** A group or a consumer, as named in the input that began the OAuth flow. */
export interface PartyName {
  ref: string;
  name: string | null;
}

/**
 * Reads the OAuth flow of a ticket. Changes nothing, because mail scanners and previews may open the link before the
 * person does. Null if the ticket is unknown, or if its flow was finished or has expired.
 */
export async function openLink(
  services: ProviderServices,
  { ticket, browser }: { ticket: string | null; browser: string },
): Promise<OpenedLink | null> {
  const key = parseTicket(ticket);
  if (!key || ticket === null) return null;
  const { database, now } = services;
  const flow = await database.prisma.oAuthConnect.findUnique({ where: { projectId_id: key } });
  if (!flow || flow.expireTime <= now()) return null;
  const [page, [app]] = await Promise.all([
    findOAuthFlowPage(services, flow),
    database.reads.find('ProviderApp', { projectId: key.projectId, id: flow.providerAppId }),
  ]);
  if (!page || !app) return null;
  const { groupRef, groupName, consumerRef, consumerName } = castJsonColumn<StoredFlowInput>(
    flow.input,
  );
  const provider = getOAuthProvider(await inProject(services, key.projectId), flow.provider);
  const isReauthorization =
    provider.oauth2.reauthorizeParams !== undefined && (await hasConsented(services, flow));
  return {
    consentUrl: createConsentUrl(
      services,
      { provider, app, flow, isReauthorization, isSignIn: false },
      createState(ticket, key, browser),
    ),
    providerName: provider.displayName,
    group: { ref: groupRef, name: groupName ?? null },
    consumer: { ref: consumerRef, name: consumerName ?? null },
    page,
  };
}

/** True if the parties of the flow have a connection to its provider, which does not await its first consent. */
async function hasConsented(
  services: CoreServices,
  { projectId, provider, input }: Tables['OAuthConnect'],
): Promise<boolean> {
  const { groupRef, consumerRef } = castJsonColumn<StoredFlowInput>(input);
  const where = { projectId, provider, group: { groupRef }, consumer: { consumerRef } };
  const connection = await services.database.prisma.connection.findFirst({ where });
  if (!connection) return false;
  const stored = tryUnsealCredentials(services, connection);
  return stored === null || !awaitsConsent(stored.credentials);
}

/** Returns the page for a ticket whose flow has ended or expired. Null if the ticket's project does not exist. */
export async function findExpiredLinkPage(
  services: RowServices,
  ticket: string | null,
): Promise<OAuthFlowPage | null> {
  const key = parseTicket(ticket);
  if (!key) return null;
  return findOAuthFlowPage(services, { projectId: key.projectId, providerAppId: null });
}

interface ConsentRequest {
  provider: Provider & { oauth2: OAuth2Settings };
  app: Pick<Row<'ProviderApp'>, 'clientId' | 'metadata'>;
  flow: Tables['OAuthConnect'];
  /** True if the connection exists and has had a consent. */
  isReauthorization: boolean;
  /** True for the sign-in that follows an administrator's consent. */
  isSignIn: boolean;
}

/**
 * Returns the URL of the sign-in that follows an administrator's consent. Null if the flow needs none, was finished or
 * has expired.
 */
export async function findSignInUrl(
  services: ProviderServices,
  key: OAuthFlowKey,
  state: string,
): Promise<string | null> {
  const { database, now } = services;
  const flow = await database.prisma.oAuthConnect.findUnique({ where: { projectId_id: key } });
  if (!flow || flow.expireTime <= now()) return null;
  const projectServices = await inProject(services, key.projectId);
  const provider = getOAuthProvider(projectServices, flow.provider);
  const [app] = await database.reads.find('ProviderApp', {
    projectId: key.projectId,
    id: flow.providerAppId,
  });
  if (!app || !provider.oauth2.adminConsent) return null;
  const request = { provider, app, flow, isReauthorization: false, isSignIn: true };
  return createConsentUrl(services, request, state);
}

function createConsentUrl(
  services: Pick<Services, 'vault'>,
  request: ConsentRequest,
  state: string,
): string {
  const { provider, app, flow, isReauthorization } = request;
  const input = castJsonColumn<StoredFlowInput>(flow.input);
  const account = toAccountMetadata(input);
  const { oauth2 } = applyLogin(provider, account);
  const page = getPage(services, { ...request, provider: { ...provider, oauth2 } }, input.scopes);
  const url = new URL(fillAddress(provider, page.url, account));
  // The gateway's parameters come last, so that extra parameters can't replace them.
  const params = {
    ...oauth2.authorizeParams,
    ...(isReauthorization && oauth2.reauthorizeParams),
    ...readAuthQueryParams(app),
    ...page.params,
    client_id: app.clientId,
    redirect_uri: flow.callbackUrl,
    state,
  };
  for (const [name, value] of Object.entries(params)) {
    url.searchParams.delete(name);
    for (const text of [value].flat()) url.searchParams.append(name, text);
  }
  return url.href;
}

/** The scope of a sign-in that only identifies the person and the organization. */
const SIGN_IN_SCOPE = 'openid';

/** Returns the template of the page's URL, and the parameters that only this page needs. */
function getPage(
  services: Pick<Services, 'vault'>,
  { provider: { oauth2 }, flow, isSignIn }: ConsentRequest,
  scopes: readonly string[],
): { url: string; params: Record<string, string> } {
  const { adminConsent, authorizeUrl = '', scopeSeparator = ' ' } = oauth2;
  if (adminConsent && !isSignIn) {
    return { url: adminConsent.url, params: { scope: adminConsent.scope } };
  }
  const scope = isSignIn ? SIGN_IN_SCOPE : scopes.join(scopeSeparator);
  const verifier = openCodeVerifier(services, flow);
  const params = {
    response_type: 'code',
    ...(scope !== '' && { scope }),
    ...(verifier && {
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    }),
  };
  return { url: authorizeUrl, params };
}

/** Returns the extra query parameters of the provider app, which `createProviderApp` has validated. */
function readAuthQueryParams({
  metadata,
}: Pick<Row<'ProviderApp'>, 'metadata'>): Record<string, string | string[]> {
  const { authQueryParams } = (metadata ?? {}) as {
    authQueryParams?: Record<string, string | string[]>;
  };
  return authQueryParams ?? {};
}
