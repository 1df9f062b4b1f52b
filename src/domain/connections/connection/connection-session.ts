/** Sends authenticated requests to a connection's account: requests of providers' code, and forwarded requests. */

import { joinHeaders, type StreamedResponse } from '../../../outbound/client.ts';
import type {
  Provider,
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { isSuccess, parseRetryAfterMs } from '../../../providers/read-responses.ts';
import { SecretMask } from '../../../work/secret-mask.ts';
import type { ProviderServices } from '../../access/call.ts';
import { describeMissingProvider, findProviderOf } from '../../access/catalog.ts';
import { observeOutbound } from '../diagnosis/observed-outbound.ts';
import { areForProvider, requireForProvider } from '../provider/credential-targets.ts';
import type { LimitedConnection } from '../provider/provider-limits.ts';
import { recordBadCredentials, recordWorking } from './connection-status.ts';
import { listSecrets, type UnsealedCredentials } from './credentials.ts';
import { fillAddress, fillHeaders, findVariable } from './session/account-address.ts';
import { type AttachedCredentials, attachCredentials } from './session/attached-credentials.ts';
import {
  createForwardedUrl,
  type ForwardedRequest,
  sendForwarded,
} from './session/forwarded-request.ts';
import { areCredentialsValid, hasHealthCheck, isRejection } from './session/health-check.ts';
import { measureCall } from './session/measured-call.ts';
import { createRequestUrl, sendRequest } from './session/provider-request.ts';
import {
  type Connection,
  ProviderSessionCredentials,
} from './session/provider-session-credentials.ts';
import { RepeatableBody } from './session/repeatable-body.ts';
import { isRefreshRejected } from './session/stored-credentials.ts';
import { canRefresh, findStoredToken } from './token/token.ts';

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

export interface AccountProviderSession extends ProviderSession {
  /**
   * Forwards a request unchanged, and resolves when the response begins. Throws the errors of `send`. After the provider
   * rejects the token, the request is retried only if its body fits into the replay buffer.
   */
  forward(request: ForwardedRequest): Promise<StreamedResponse>;
  /**
   * Returns the access token for a protocol other than HTTP, but never `rejectedToken`, which the provider has rejected.
   * Throws AUTH_INVALIDATED if no other token is available. Before that, it checks the credentials as after a 401.
   */
  getAccessToken(rejectedToken?: string): Promise<string>;
  /** Masks further secrets that later requests contain, such as the secret of a webhook. */
  addSecrets(secrets: Iterable<string>): void;
}

interface RequestOrigin {
  /** True if a client wrote the request, which may then lack a scope. */
  isForwarded: boolean;
}

/** A request that can be sent with different credentials. */
interface RepeatableRequest<R> extends RequestOrigin {
  exchange(credentials: UnsealedCredentials): Promise<R>;
  /** True if the response rejects the credentials. */
  isRejected(response: R): boolean;
  canRepeat(): boolean;
  /** Releases a response that is not read. */
  discard(response: R): Promise<void>;
}

interface ProviderSessionOptions {
  /**
   * False if the credentials of the row are not stored. Stored credentials, which may be of another account, then never
   * replace them.
   */
  isStored: boolean;
}

/**
 * Opens a session for the connection's account. `provider` may be a module of the connection's provider. Throws
 * ProviderError BAD_REQUEST if the provider is not in the catalog, or if the connection lacks a value for its address.
 */
export function openProviderSession(
  services: ProviderServices,
  connection: Connection,
  provider: Provider | null,
  options: ProviderSessionOptions = { isStored: true },
): AccountProviderSession {
  if (!provider) {
    throw new ProviderError('BAD_REQUEST', describeMissingProvider(connection.provider));
  }
  const credentials = new ProviderSessionCredentials(services, connection, options);
  return new ConnectionProviderSession(services, { connection, provider, credentials });
}

/** Opens a session for the connection's account, at the connection's own provider. Throws the errors of `openSession`. */
export async function openProviderSessionOf(
  services: ProviderServices,
  connection: Connection,
): Promise<AccountProviderSession> {
  return openProviderSession(services, connection, await findProviderOf(services, connection));
}

interface SessionParts {
  connection: Connection;
  provider: Provider;
  credentials: ProviderSessionCredentials;
}

class ConnectionProviderSession implements AccountProviderSession {
  readonly baseUrl: string;
  readonly #services: ProviderServices;
  readonly #connection: Connection;
  readonly #provider: Provider;
  /** Headers of every request, filled in from the connection's metadata. */
  readonly #headers: AttachedCredentials['headers'];
  readonly #credentials: ProviderSessionCredentials;
  /** All secrets with which the session has sent requests. */
  readonly #secrets = new SecretMask();

  constructor(services: ProviderServices, { connection, provider, credentials }: SessionParts) {
    this.baseUrl = fillAddress(provider, provider.baseUrl, connection);
    this.#headers = fillHeaders(provider.headers ?? {}, connection);
    this.#services = services;
    this.#connection = connection;
    this.#provider = provider;
    this.#credentials = credentials;
  }

  findMetadata(name: string): string | null {
    return findVariable(name, this.#connection);
  }

  now(): Date {
    return this.#services.now();
  }

  addSecrets(secrets: Iterable<string>): void {
    this.#secrets.add(secrets);
  }

  async send(request: ProviderRequest): Promise<ProviderResponse> {
    const { linkHosts } = this.#provider;
    const url = createRequestUrl({ baseUrl: this.baseUrl, linkHosts }, request);
    return this.#withCredentials({
      isForwarded: false,
      exchange: (credentials) => this.#exchange(url, request, credentials),
      isRejected: (response) => isRejection(this.#provider, response),
      canRepeat: () => true,
      discard: async () => {},
    });
  }

  async forward(request: ForwardedRequest): Promise<StreamedResponse> {
    const url = createForwardedUrl(this.baseUrl, request.target);
    const body = new RepeatableBody(request.body);
    return this.#withCredentials({
      isForwarded: true,
      exchange: (credentials) => this.#forward({ url, request, body }, credentials),
      // The body is not read, so a declared rule for missing scopes can't apply. The health check decides.
      isRejected: ({ status }) => status === UNAUTHORIZED,
      canRepeat: () => body.isRepeatable,
      discard(response) {
        response.body.destroy();
        return response.closed;
      },
    });
  }

  async getAccessToken(rejectedToken?: string): Promise<string> {
    const credentials = await this.#credentials.getUsable();
    requireForProvider(this.#provider, credentials);
    const token = findToken(credentials);
    if (token !== undefined && token !== rejectedToken) return token;
    const isForwarded = false;
    const replacement =
      token === undefined ? null : await this.#findReplacement(credentials, { isForwarded });
    const newToken = replacement && findToken(replacement);
    if (replacement && newToken) {
      requireForProvider(this.#provider, replacement);
      this.#credentials.replace(replacement);
      return newToken;
    }
    if (token !== undefined) await this.#checkCredentials(credentials, { isForwarded });
    const reason =
      token === undefined ? 'The connection has no token.' : 'The provider rejected the token.';
    throw new ProviderError('AUTH_INVALIDATED', reason);
  }

  /** Sends a request. If the provider rejects the credentials, sends it once more with other credentials. */
  async #withCredentials<R>(request: RepeatableRequest<R>): Promise<R> {
    const credentials = await this.#credentials.getUsable();
    const response = await request.exchange(credentials);
    if (!request.isRejected(response)) return response;
    const replacement = await this.#findReplacement(credentials, request).catch(
      async (error: unknown) => {
        await request.discard(response);
        throw error;
      },
    );
    if (!replacement) {
      await this.#checkCredentials(credentials, request);
      return response;
    }
    this.#credentials.replace(replacement);
    if (!request.canRepeat()) return response;
    await request.discard(response);
    const nextResponse = await request.exchange(replacement);
    if (request.isRejected(nextResponse)) await this.#checkCredentials(replacement, request);
    return nextResponse;
  }

  /** Returns credentials to use instead of the rejected ones. Null if there are none. */
  async #findReplacement(
    rejected: UnsealedCredentials,
    origin: RequestOrigin,
  ): Promise<UnsealedCredentials | null> {
    try {
      return await this.#credentials.findReplacement(rejected);
    } catch (error) {
      // The token request was refused. Rejected credentials are recorded already, so the reason may be another one.
      const isRefused = error instanceof ProviderError && error.kind === 'BAD_REQUEST';
      if (isRefused) await this.#checkCredentials(rejected, origin);
      throw error;
    }
  }

  /**
   * Sets BAD_CREDENTIALS if rejected credentials are invalid, and WORKING if they are valid. The health check decides.
   * Without one, a rejected request of the gateway counts. A forwarded request never does, because it may lack a scope.
   */
  async #checkCredentials(
    rejected: UnsealedCredentials,
    { isForwarded }: RequestOrigin,
  ): Promise<void> {
    const connection = this.#connection;
    const { credentials } = rejected;
    const provider = (await findProviderOf(this.#services, connection)) ?? this.#provider;
    if (!areForProvider(provider, rejected)) return;
    const areValid = hasHealthCheck(provider)
      ? await areCredentialsValid(this.#services, connection, { provider, credentials })
      : isForwarded
        ? null
        : false;
    if (areValid === true) await this.#recordSuccess(rejected);
    if (areValid === false) await this.#recordRejection(rejected);
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
      secrets: this.#secrets,
    });
    const attached = this.#attach(credentials);
    const response = await providerAccess.limits.run(this.#limitedConnection, () =>
      measureCall({ meters, provider, kind: 'api' }, () =>
        sendRequest(outbound, { provider, url, request, attached, mask: this.#secrets.mask }),
      ),
    );
    this.#pauseIfLimited(response);
    const isAccepted = isSuccess(response) && !isRejection(provider, response);
    if (isAccepted) await this.#recordSuccess(credentials);
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
      secrets: this.#secrets,
    });
    const { promise, resolve, reject } = Promise.withResolvers<StreamedResponse>();
    const exchange = async () => {
      const response = await measureCall({ meters, provider, kind: 'proxy' }, () =>
        sendForwarded(outbound, forwarding),
      );
      resolve(response);
      await response.closed;
    };
    providerAccess.limits.run(this.#limitedConnection, exchange).catch(reject);
    const response = await promise;
    const { status, headers } = response;
    this.#pauseIfLimited({ status, headers: joinHeaders(headers) });
    if (isSuccess(response)) await this.#recordSuccess(credentials);
    return response;
  }

  #attach(unsealed: UnsealedCredentials): AttachedCredentials {
    requireForProvider(this.#provider, unsealed);
    const { credentials } = unsealed;
    this.#secrets.add(listSecrets(credentials));
    const attached = attachCredentials(this.#services, this.#provider, credentials);
    return { ...attached, headers: { ...this.#headers, ...attached.headers } };
  }

  get #limitedConnection(): LimitedConnection {
    const { id: connectionId, projectId } = this.#connection;
    return { connectionId, projectId, provider: this.#provider };
  }

  #pauseIfLimited(response: Pick<ProviderResponse, 'status' | 'headers'>): void {
    const { status } = response;
    const waitMs = parseRetryAfterMs(response);
    if (status === TOO_MANY_REQUESTS || (status === UNAVAILABLE && waitMs !== null)) {
      this.#services.providerAccess.limits.pause(this.#limitedConnection, waitMs);
    }
  }

  async #recordSuccess(credentials: UnsealedCredentials): Promise<void> {
    const { sealed, status } = credentials;
    const isRefreshable = canRefresh(credentials.credentials);
    if (status === 'WORKING' || (isRefreshable && isRefreshRejected(credentials))) return;
    credentials.status = 'WORKING';
    const connection = this.#connection;
    await this.#storeStatus(recordWorking(this.#services, { connection, sealed, isRefreshable }));
  }

  async #recordRejection(credentials: UnsealedCredentials): Promise<void> {
    if (credentials.status !== 'BAD_CREDENTIALS') credentials.refreshRejectedTime = null;
    credentials.status = 'BAD_CREDENTIALS';
    const { sealed } = credentials;
    const errors = [`${this.#provider.displayName} rejected the credentials of a request.`];
    await this.#storeStatus(
      recordBadCredentials(this.#services, {
        connection: this.#connection,
        sealed,
        cause: 'REQUEST',
        errors,
      }),
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
