/** Opens the link of a connect: returns the URL of the provider's consent page. */
import { hash } from 'node:crypto';
import type { Row } from '../../../../database/rows.ts';
import type { Tables } from '../../../../database/tables.ts';
import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import type { Services } from '../../../access/call.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import { openCodeVerifier, type StoredConnect } from '../oauth-connect.ts';
import { toAccountMetadata } from '../oauth-connect-check.ts';
import { applyLogin, fillAddress } from '../session/account-address.ts';
import { tryUnsealCredentials } from '../session/stored-credentials.ts';
import { awaitsConsent } from '../token/token.ts';
import { getOAuthProvider } from '../token/token-request.ts';
import { type ConnectPage, findConnectPage } from './connect-page.ts';
import { createState, parseTicket } from './connect-ticket.ts';

export interface OpenedLink {
  /** The URL of the provider's consent page. Its `state` works only in the browser that opened the link. */
  consentUrl: string;
  providerName: string;
  group: PartyName;
  consumer: PartyName;
  page: ConnectPage;
}

/** A group or a consumer, as named in the input that began the connect. */
export interface PartyName {
  ref: string;
  name: string | null;
}

/**
 * Reads the connect of a ticket. Changes nothing, because mail scanners and previews may open the link before the
 * person does. Null if the ticket is unknown, or if its connect was finished or has expired.
 */
export async function openLink(
  services: Services,
  { ticket, browser }: { ticket: string | null; browser: string },
): Promise<OpenedLink | null> {
  const key = parseTicket(ticket);
  if (!key || ticket === null) return null;
  const { database, now } = services;
  const connect = await database.prisma.oAuthConnect.findUnique({ where: { projectId_id: key } });
  if (!connect || connect.expireTime <= now()) return null;
  const [page, [app]] = await Promise.all([
    findConnectPage(services, connect),
    database.rows.find('ProviderApp', { projectId: key.projectId, id: connect.providerAppId }),
  ]);
  if (!page || !app) return null;
  const { groupRef, groupName, consumerRef, consumerName } = castJsonColumn<StoredConnect>(
    connect.input,
  );
  const provider = getOAuthProvider(services, connect.provider);
  const isReauthorization =
    provider.oauth2.reauthorizeParams !== undefined && (await hasConsented(services, connect));
  return {
    consentUrl: createConsentUrl(
      services,
      { provider, app, connect, isReauthorization },
      createState(ticket, key, browser),
    ),
    providerName: provider.displayName,
    group: { ref: groupRef, name: groupName ?? null },
    consumer: { ref: consumerRef, name: consumerName ?? null },
    page,
  };
}

/** True if the parties of the connect have a connection to its provider, which does not await its first consent. */
async function hasConsented(
  services: Services,
  { projectId, provider, input }: Tables['OAuthConnect'],
): Promise<boolean> {
  const { groupRef, consumerRef } = castJsonColumn<StoredConnect>(input);
  const where = { projectId, provider, group: { groupRef }, consumer: { consumerRef } };
  const connection = await services.database.prisma.connection.findFirst({ where });
  if (!connection) return false;
  const stored = tryUnsealCredentials(services, connection);
  return stored === null || !awaitsConsent(stored.credentials);
}

/** Returns the page for a ticket whose connect has ended or expired. Null if the ticket's project does not exist. */
export async function findExpiredLinkPage(
  services: Services,
  ticket: string | null,
): Promise<ConnectPage | null> {
  const key = parseTicket(ticket);
  if (!key) return null;
  return findConnectPage(services, { projectId: key.projectId, providerAppId: null });
}

interface ConsentRequest {
  provider: Provider & { oauth2: OAuth2Settings };
  app: Pick<Row<'ProviderApp'>, 'clientId' | 'metadata'>;
  connect: Tables['OAuthConnect'];
  /** True if the connection exists and has had a consent. */
  isReauthorization: boolean;
}

function createConsentUrl(
  services: Pick<Services, 'vault'>,
  { provider, app, connect, isReauthorization }: ConsentRequest,
  state: string,
): string {
  const input = castJsonColumn<StoredConnect>(connect.input);
  const account = toAccountMetadata(input);
  const {
    authorizeUrl = '',
    authorizeParams,
    reauthorizeParams,
    scopeSeparator = ' ',
  } = applyLogin(provider, account).oauth2;
  const url = new URL(fillAddress(provider, authorizeUrl, account));
  const verifier = openCodeVerifier(services, connect);
  const gatewayParams = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: connect.callbackUrl,
    ...(input.scopes.length > 0 && { scope: input.scopes.join(scopeSeparator) }),
    state,
    ...(verifier && {
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    }),
  };
  // The gateway's parameters come last, so that extra parameters can't replace them.
  const params = {
    ...authorizeParams,
    ...(isReauthorization && reauthorizeParams),
    ...readAuthQueryParams(app),
    ...gatewayParams,
  };
  for (const [name, value] of Object.entries(params)) {
    url.searchParams.delete(name);
    for (const text of [value].flat()) url.searchParams.append(name, text);
  }
  return url.href;
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
