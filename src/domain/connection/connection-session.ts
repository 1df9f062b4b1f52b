/** An authenticated way to a connection's account: what connectors and forwarded requests go through. */
import type { Row } from '../../database/rows.ts';
import { isSuccess, retryAfterMs } from '../../providers/answer.ts';
import {
  type Provider,
  type ProviderAnswer,
  ProviderError,
  type ProviderRequest,
  type ProviderSession,
} from '../../providers/provider.ts';
import type { Services } from '../call.ts';
import { canRefresh, endsWithin, heldToken, isDue, isTokenCredentials } from '../token/token.ts';
import { freshCredentials } from '../token/token-refresh.ts';
import { recordBadCredentials, recordWorking } from './connection-status.ts';
import { fillAddress } from './session/account-address.ts';
import { attachedCredentials } from './session/attached-credentials.ts';
import { areSame, type HeldCredentials, readCredentials } from './session/held-credentials.ts';
import { requestUrl, sendRequest } from './session/provider-request.ts';

const UNAUTHORIZED = 401;
/** They ask us to wait; the second only where it says how long. */
const TOO_MANY = 429;
const UNAVAILABLE = 503;

/**
 * Opens the connection's account. Throws ProviderError BAD_REQUEST where the provider is not known any
 * more, or the connection lacks what its address is made of.
 */
export function openSession(services: Services, connection: Row<'Connection'>): ProviderSession {
  const provider = services.catalogue.find(connection.provider);
  if (!provider) {
    throw new ProviderError('BAD_REQUEST', `${connection.provider} is not a provider any more.`);
  }
  return new ConnectionSession(services, connection, provider);
}

class ConnectionSession implements ProviderSession {
  readonly baseUrl: string;
  readonly #services: Services;
  readonly #connection: Row<'Connection'>;
  readonly #provider: Provider;
  /** Read at the first request, and again when they have to be others. */
  #held: HeldCredentials | undefined;

  constructor(services: Services, connection: Row<'Connection'>, provider: Provider) {
    this.baseUrl = fillAddress(provider.baseUrl, connection);
    this.#services = services;
    this.#connection = connection;
    this.#provider = provider;
  }

  async send(request: ProviderRequest): Promise<ProviderAnswer> {
    const url = requestUrl(this.baseUrl, request);
    const held = await this.#usableCredentials();
    const answer = await this.#exchange(url, request, held);
    if (answer.status !== UNAUTHORIZED) return answer;
    const others = await this.#othersThan(held);
    if (others) {
      this.#held = others;
      const second = await this.#exchange(url, request, others);
      if (second.status !== UNAUTHORIZED) return second;
    }
    await this.#noteRefusal(others ?? held);
    return answer;
  }

  async #usableCredentials(): Promise<HeldCredentials> {
    this.#held ??= await readCredentials(this.#services, this.#connection);
    const { credentials } = this.#held;
    if (!isTokenCredentials(credentials) || !canRefresh(credentials)) return this.#held;
    const now = this.#services.now();
    const token = heldToken(credentials);
    if (!isDue(token, now)) return this.#held;
    try {
      this.#held = await freshCredentials(this.#services, this.#connection, {
        isStale: (stored) => isDue(heldToken(stored), now),
      });
    } catch (error) {
      // The endpoint may be back before the token ends.
      const canWait = token !== undefined && !endsWithin(token, 0, now);
      if (!canWait || !(error instanceof ProviderError) || !error.passesLater) throw error;
    }
    return this.#held;
  }

  /** After a refusal: a token that replaces the refused one, or what was stored meanwhile; else null. */
  async #othersThan(refused: HeldCredentials): Promise<HeldCredentials | null> {
    const { credentials } = refused;
    const stored =
      isTokenCredentials(credentials) && canRefresh(credentials)
        ? await this.#refreshed(refused, heldToken(credentials)?.token)
        : await readCredentials(this.#services, this.#connection);
    return areSame(stored.credentials, credentials) ? null : stored;
  }

  async #refreshed(
    refused: HeldCredentials,
    refusedToken: string | undefined,
  ): Promise<HeldCredentials> {
    try {
      return await freshCredentials(this.#services, this.#connection, {
        isStale: (stored) => heldToken(stored)?.token === refusedToken,
      });
    } catch (error) {
      // The token is refused, and no other is to be had.
      if (error instanceof ProviderError && !error.passesLater) await this.#noteRefusal(refused);
      throw error;
    }
  }

  async #exchange(
    url: URL,
    request: ProviderRequest,
    held: HeldCredentials,
  ): Promise<ProviderAnswer> {
    const { id: connectionId, projectId } = this.#connection;
    const provider = this.#provider;
    const { limits, outbound } = this.#services.providerAccess;
    const attached = attachedCredentials(provider, held.credentials);
    const caller = { connectionId, projectId, provider };
    const answer = await limits.run(caller, () =>
      sendRequest(outbound, { provider, url, request, attached }),
    );
    const waitMs = retryAfterMs(answer);
    if (answer.status === TOO_MANY || (answer.status === UNAVAILABLE && waitMs !== null)) {
      limits.rest(caller, waitMs);
    }
    if (isSuccess(answer)) await this.#noteSuccess(held);
    return answer;
  }

  async #noteSuccess(held: HeldCredentials): Promise<void> {
    if (held.isWorking) return;
    held.isWorking = true;
    const { sealed } = held;
    await this.#note(recordWorking(this.#services, { connection: this.#connection, sealed }));
  }

  async #noteRefusal({ sealed }: HeldCredentials): Promise<void> {
    const errors = [`${this.#provider.displayName} refused the credentials of a call (401).`];
    const finding = { connection: this.#connection, sealed, errors };
    await this.#note(recordBadCredentials(this.#services, finding));
  }

  /** The provider has answered: that its answer can't be noted now must not lose it. */
  async #note(recorded: Promise<void>): Promise<void> {
    try {
      await recorded;
    } catch (error) {
      const about = { connectionId: this.#connection.id, error: String(error) };
      this.#services.log.warn(about, 'status of a connection not recorded');
    }
  }
}
