/** Sends authenticated requests to a connection's account: requests of providers' code, and forwarded requests. */
import type { Row } from '../../database/rows.ts';
import type { Tables } from '../../database/tables.ts';
import { joinHeaders, type StreamedResponse } from '../../outbound/client.ts';
import type {
  Provider,
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../providers/contract.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { isSuccess, parseRetryAfterMs } from '../../providers/read-responses.ts';
import type { Services } from '../call.ts';
import { observeOutbound } from '../diagnosis/observed-outbound.ts';
import type { Caller } from '../provider/provider-limits.ts';
import { recordBadCredentials, recordWorking } from './connection-status.ts';
import { fillAddress, fillHeaders, findVariable } from './session/account-address.ts';
import { type AttachedCredentials, attachCredentials } from './session/attached-credentials.ts';
import {
  createForwardedUrl,
  type ForwardedRequest,
  sendForwarded,
} from './session/forwarded-request.ts';
import { measureCall } from './session/measured-call.ts';
import { createRequestUrl, sendRequest } from './session/provider-request.ts';
import { RepeatableBody } from './session/repeatable-body.ts';
import {
  areCredentialsEqual,
  readCredentials,
  type UnsealedCredentials,
  unsealCredentials,
} from './session/stored-credentials.ts';
import { canRefresh, expiresWithin, findStoredToken, isRefreshDue } from './token/token.ts';
import { getFreshCredentials } from './token/token-refresh.ts';

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

export interface AccountSession extends ProviderSession {
  /**
   * Forwards a request unchanged, and resolves when the response begins. Throws the errors of `send`. After the provider
   * rejects the token, the request is retried only if its body fits into the replay buffer.
   */
  forward(request: ForwardedRequest): Promise<StreamedResponse>;
  /**
   * Returns the access token for a protocol other than HTTP, but never `rejectedToken`, which the provider has rejected.
   * Throws AUTH_INVALIDATED and sets BAD_CREDENTIALS if no other token is available.
   */
  getAccessToken(rejectedToken?: string): Promise<string>;
}

/** A request that can be sent with different credentials. */
interface RepeatableRequest<R> {
  exchange(credentials: UnsealedCredentials): Promise<R>;
  canRepeat(): boolean;
  /** Releases a response that is not read. */
  discard(response: R): Promise<void>;
}

/**
 * Opens a session for the connection's account. `provider` may be a module of the connection's provider. Throws
 * ProviderError BAD_REQUEST if the provider is not in the catalog, or if the connection lacks a value for its address.
 */
export function openSession(
  services: Services,
  connection: Connection,
  provider = services.catalog.find(connection.provider),
): AccountSession {
  if (!provider) {
    throw new ProviderError('BAD_REQUEST', `${connection.provider} is no longer a provider.`);
  }
  return new ConnectionSession(services, connection, provider);
}

class ConnectionSession implements AccountSession {
  readonly baseUrl: string;
  readonly #services: Services;
  readonly #connection: Connection;
  readonly #provider: Provider;
  /** Headers of every request, filled in from the connection's metadata. */
  readonly #headers: AttachedCredentials['headers'];
  readonly #credentials: SessionCredentials;

  constructor(services: Services, connection: Connection, provider: Provider) {
    this.baseUrl = fillAddress(provider, provider.baseUrl, connection);
    this.#headers = fillHeaders(provider.headers ?? {}, connection);
    this.#services = services;
    this.#connection = connection;
    this.#provider = provider;
    this.#credentials = new SessionCredentials(services, connection);
  }

  findMetadata(name: string): string | null {
    return findVariable(name, this.#connection);
  }

  now(): Date {
    return this.#services.now();
  }

  async send(request: ProviderRequest): Promise<ProviderResponse> {
    const { linkHosts } = this.#provider;
    const url = createRequestUrl({ baseUrl: this.baseUrl, linkHosts }, request);
    return this.#withCredentials({
      exchange: (credentials) => this.#exchange(url, request, credentials),
      canRepeat: () => true,
      discard: async () => {},
    });
  }

  async forward(request: ForwardedRequest): Promise<StreamedResponse> {
    const url = createForwardedUrl(this.baseUrl, request.target);
    const body = new RepeatableBody(request.body);
    return this.#withCredentials({
      exchange: (credentials) => this.#forward({ url, request, body }, credentials),
      canRepeat: () => body.isRepeatable,
      discard(response) {
        response.body.destroy();
        return response.closed;
      },
    });
  }

  async getAccessToken(rejectedToken?: string): Promise<string> {
    const credentials = await this.#credentials.getUsable();
    const token = findToken(credentials);
    if (token !== undefined && token !== rejectedToken) return token;
    const replacement = token === undefined ? null : await this.#findReplacement(credentials);
    const newToken = replacement && findToken(replacement);
    if (replacement && newToken) {
      this.#credentials.replace(replacement);
      return newToken;
    }
    if (token !== undefined) await this.#recordRejection(credentials);
    const reason =
      token === undefined ? 'The connection has no token.' : 'The provider rejected the token.';
    throw new ProviderError('AUTH_INVALIDATED', reason);
  }

  /** Sends a request. If the provider rejects the credentials, sends it once more with other credentials. */
  async #withCredentials<R extends { status: number }>(request: RepeatableRequest<R>): Promise<R> {
    const credentials = await this.#credentials.getUsable();
    const response = await request.exchange(credentials);
    if (response.status !== UNAUTHORIZED) return response;
    const replacement = await this.#findReplacement(credentials).catch(async (error: unknown) => {
      await request.discard(response);
      throw error;
    });
    if (!replacement) {
      await this.#recordRejection(credentials);
      return response;
    }
    this.#credentials.replace(replacement);
    if (!request.canRepeat()) return response;
    await request.discard(response);
    const nextResponse = await request.exchange(replacement);
    if (nextResponse.status === UNAUTHORIZED) await this.#recordRejection(replacement);
    return nextResponse;
  }

  /** Returns credentials to use instead of the rejected ones. Null if there are none. */
  async #findReplacement(rejected: UnsealedCredentials): Promise<UnsealedCredentials | null> {
    try {
      return await this.#credentials.findReplacement(rejected);
    } catch (error) {
      // The provider rejected the token, and no other token is available.
      const isFinal = error instanceof ProviderError && !error.isTemporary;
      if (isFinal) await this.#recordRejection(rejected);
      throw error;
    }
  }

  async #exchange(
    url: URL,
    request: ProviderRequest,
    credentials: UnsealedCredentials,
  ): Promise<ProviderResponse> {
    const provider = this.#provider;
    const { meters, providerAccess } = this.#services;
    const outbound = observeOutbound(this.#services, {
      kind: 'API',
      connection: this.#connection,
    });
    const attached = this.#attach(credentials);
    const response = await providerAccess.limits.run(this.#caller, () =>
      measureCall({ meters, provider, kind: 'api' }, () =>
        sendRequest(outbound, { provider, url, request, attached }),
      ),
    );
    await this.#recordResponse(response, credentials);
    return response;
  }

  /** Occupies a slot of the provider's limits until the response body has ended. */
  async #forward(
    forwarded: { url: URL; request: ForwardedRequest; body: RepeatableBody },
    credentials: UnsealedCredentials,
  ): Promise<StreamedResponse> {
    const provider = this.#provider;
    const { config, meters, providerAccess } = this.#services;
    const attached = this.#attach(credentials);
    const forwarding = { ...forwarded, provider, attached, timeoutMs: config.LIMIT_PROXY_MS };
    const outbound = observeOutbound(this.#services, {
      kind: 'PROXY',
      connection: this.#connection,
    });
    const { promise, resolve, reject } = Promise.withResolvers<StreamedResponse>();
    const exchange = async () => {
      const response = await measureCall({ meters, provider, kind: 'proxy' }, () =>
        sendForwarded(outbound, forwarding),
      );
      resolve(response);
      await response.closed;
    };
    providerAccess.limits.run(this.#caller, exchange).catch(reject);
    const response = await promise;
    await this.#recordResponse(
      { status: response.status, headers: joinHeaders(response.headers) },
      credentials,
    );
    return response;
  }

  #attach({ credentials }: UnsealedCredentials): AttachedCredentials {
    const { headers, query } = attachCredentials(this.#provider, credentials);
    return { headers: { ...this.#headers, ...headers }, query };
  }

  get #caller(): Caller {
    const { id: connectionId, projectId } = this.#connection;
    return { connectionId, projectId, provider: this.#provider };
  }

  async #recordResponse(
    response: Pick<ProviderResponse, 'status' | 'headers'>,
    credentials: UnsealedCredentials,
  ): Promise<void> {
    const { status } = response;
    const waitMs = parseRetryAfterMs(response);
    if (status === TOO_MANY_REQUESTS || (status === UNAVAILABLE && waitMs !== null)) {
      this.#services.providerAccess.limits.pause(this.#caller, waitMs);
    }
    if (isSuccess(response)) await this.#recordSuccess(credentials);
  }

  async #recordSuccess(credentials: UnsealedCredentials): Promise<void> {
    if (credentials.isWorking) return;
    credentials.isWorking = true;
    const { sealed } = credentials;
    await this.#storeStatus(
      recordWorking(this.#services, { connection: this.#connection, sealed }),
    );
  }

  async #recordRejection({ sealed }: UnsealedCredentials): Promise<void> {
    const errors = [`${this.#provider.displayName} rejected the credentials of a request (401).`];
    await this.#storeStatus(
      recordBadCredentials(this.#services, { connection: this.#connection, sealed, errors }),
    );
  }

  /** Logs a failure to store the status. The provider has responded, and its response must not be lost. */
  async #storeStatus(recording: Promise<void>): Promise<void> {
    try {
      await recording;
    } catch (error) {
      const fields = { connectionId: this.#connection.id, error: String(error) };
      this.#services.log.warn(fields, 'connection.status_not_recorded');
    }
  }
}

function findToken({ credentials }: UnsealedCredentials): string | undefined {
  return findStoredToken(credentials)?.token;
}

/** A connection row, with its sealed credentials if the query selected them. */
type Connection = Row<'Connection'> & Partial<Pick<Tables['Connection'], 'credentialsSealed'>>;

/** The credentials that a session uses. A token that is about to expire, or was rejected, is replaced. */
/** The credentials that a session uses. A token that is about to expire, or was rejected, is replaced. */
class SessionCredentials {
  readonly #services: Services;
  readonly #connection: Connection;
  /** Undefined before the first request. */
  #credentials: UnsealedCredentials | undefined;

  constructor(services: Services, connection: Connection) {
    this.#services = services;
    this.#connection = connection;
  }

  /** Returns the credentials for the next request. Refreshes a token that is about to expire. */
  async getUsable(): Promise<UnsealedCredentials> {
    this.#credentials ??= await this.#read();
    const { credentials } = this.#credentials;
    if (!canRefresh(credentials)) return this.#credentials;
    const now = this.#services.now();
    const token = findStoredToken(credentials);
    if (!isRefreshDue(token, now)) return this.#credentials;
    try {
      this.#credentials = await getFreshCredentials(this.#services, this.#connection, {
        isStale: (stored) => isRefreshDue(findStoredToken(stored), now),
      });
    } catch (error) {
      // The token endpoint may recover before the token expires.
      const canWait = token !== undefined && !expiresWithin(token, 0, now);
      if (!canWait || !(error instanceof ProviderError) || !error.isTemporary) throw error;
    }
    return this.#credentials;
  }

  /** Uses the credentials for the next requests. */
  replace(credentials: UnsealedCredentials): void {
    this.#credentials = credentials;
  }

  /**
   * Returns credentials that differ from the rejected ones: with a refreshed token, or stored by another caller in the
   * meantime. Null if there are none.
   */
  async findReplacement(rejected: UnsealedCredentials): Promise<UnsealedCredentials | null> {
    const { credentials } = rejected;
    const rejectedToken = findStoredToken(credentials)?.token;
    const currentCredentials = canRefresh(credentials)
      ? await getFreshCredentials(this.#services, this.#connection, {
          isStale: (stored) => findStoredToken(stored)?.token === rejectedToken,
        })
      : await readCredentials(this.#services, this.#connection);
    return areCredentialsEqual(currentCredentials.credentials, credentials)
      ? null
      : currentCredentials;
  }

  #read(): UnsealedCredentials | Promise<UnsealedCredentials> {
    const { credentialsSealed, ...connection } = this.#connection;
    return credentialsSealed === undefined
      ? readCredentials(this.#services, connection)
      : unsealCredentials(this.#services, { ...connection, credentialsSealed });
  }
}
