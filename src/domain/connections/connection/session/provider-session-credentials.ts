/** The credentials that a session uses, and their replacement after a rejection. */
import type { Row, Tables } from '../../../../database/statements/tables.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { ProviderServices } from '../../../access/call.ts';
import type { StoredToken, UnsealedCredentials } from '../credentials.ts';
import { canRefresh, expiresWithin, findStoredToken, isRefreshDue } from '../token/token.ts';
import { getFreshCredentials } from '../token/token-refresh.ts';
import {
  areCredentialsEqual,
  isRefreshRejected,
  readCredentials,
  unsealCredentials,
} from './stored-credentials.ts';

/** How long after its issue a rejected token is not refreshed. */
const NEW_MS = MINUTE_MS;

/** A connection row, with its sealed credentials if the query selected them. */
export type Connection = Row<'Connection'> &
  Partial<Pick<Tables['Connection'], 'credentialsSealed'>>;

/** The credentials that a session uses. A token that is about to expire, or was rejected, is replaced. */
export class ProviderSessionCredentials {
  readonly #services: ProviderServices;
  readonly #connection: Connection;
  readonly #isStored: boolean;
  /** Undefined before the first request. */
  #credentials: UnsealedCredentials | undefined;

  /** `isStored` is false if the credentials of the row are not stored. Stored ones then never replace them. */
  constructor(
    services: ProviderServices,
    connection: Connection,
    { isStored }: { isStored: boolean },
  ) {
    this.#services = services;
    this.#connection = connection;
    this.#isStored = isStored;
  }

  /** Returns the credentials for the next request. Refreshes a token that is about to expire. */
  async getUsable(): Promise<UnsealedCredentials> {
    this.#credentials ??= await this.#read();
    const { credentials } = this.#credentials;
    if (!this.#isStored || !canRefresh(credentials)) return this.#credentials;
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
   * meantime. Null if there are none. A token is not refreshed if the token endpoint has rejected the credentials, or
   * issued the token within the last minute: the next one would hardly be accepted.
   */
  async findReplacement(rejected: UnsealedCredentials): Promise<UnsealedCredentials | null> {
    if (!this.#isStored) return null;
    const { credentials } = rejected;
    const rejectedToken = findStoredToken(credentials);
    const mayRefresh =
      canRefresh(credentials) && !isRefreshRejected(rejected) && !this.#isNew(rejectedToken);
    const currentCredentials = mayRefresh
      ? await getFreshCredentials(this.#services, this.#connection, {
          isStale: (stored) => findStoredToken(stored)?.token === rejectedToken?.token,
        })
      : await readCredentials(this.#services, this.#connection);
    return areCredentialsEqual(currentCredentials.credentials, credentials)
      ? null
      : currentCredentials;
  }

  #isNew(token: StoredToken | undefined): boolean {
    if (token?.issuedAt === undefined) return false;
    return this.#services.now().getTime() - Date.parse(token.issuedAt) < NEW_MS;
  }

  #read(): UnsealedCredentials | Promise<UnsealedCredentials> {
    const { credentialsSealed, ...connection } = this.#connection;
    return credentialsSealed === undefined
      ? readCredentials(this.#services, connection)
      : unsealCredentials(this.#services, { ...connection, credentialsSealed });
  }
}
