/**
 * Sessions of the console. The browser of a builder who signed in keeps a random secret in a cookie. The secret identifies
 * the builder like a bearer token, and the database stores its hash (docs/decisions/069-console-sessions.md).
 */
import { hash, randomBytes } from 'node:crypto';
import { isMissingRow } from '../../../database/connect/violations.ts';
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { unauthenticated } from '../../../kernel/errors.ts';
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { CoreServices, RowServices, Services } from '../call.ts';
import { createOrgRoles, type OrgRoles } from './org-role.ts';

const SECRET_BYTES = 32;
/** Rejects strings of another form without a query. */
const SECRET_PATTERN = /^[\w-]{43}$/;
/** The maximum number of sessions of a builder, far more than a person uses. A further sign-in ends the oldest one. */
export const CONSOLE_SESSIONS_MAX = 20;

/** The secret of a session, as a browser sent it. */
export interface ConsoleSessionCredential {
  secret: string;
  /** True if a page of the gateway itself sent the request. Browsers add cookies to requests of other pages too. */
  isFromOwnPage: boolean;
}

export interface ConsoleSession {
  builder: Row<'Builder'>;
  roles: OrgRoles;
  expireTime: Date;
  /** When the session ends even if it is used. */
  endTime: Date;
}

/** Creates a session and returns its secret, which is not stored. */
export async function createConsoleSession(
  services: CoreServices,
  builderId: string,
): Promise<string> {
  const { config, database, log, now } = services;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const createTime = now();
  const endTime = new Date(createTime.getTime() + config.CONSOLE_SESSION_HOURS * HOUR_MS);
  await inTransaction(database, async (tx) => {
    // The lock serializes a builder's sign-ins, so that they can't exceed the limit.
    const builder = statements.selectFrom('Builder').select('id').where('id', '=', builderId);
    await run(tx, builder.forNoKeyUpdate());
    const surplusSessions = await tx.consoleSession.findMany({
      where: { builderId },
      orderBy: [{ createTime: 'desc' }, { id: 'desc' }],
      skip: CONSOLE_SESSIONS_MAX - 1,
      select: { id: true },
    });
    await tx.consoleSession.deleteMany({
      where: { id: { in: surplusSessions.map(({ id }) => id) } },
    });
    const expireTime = computeExpireTime(services, endTime);
    const data = { id: hashSecret(secret), builderId, createTime, expireTime, endTime };
    await tx.consoleSession.create({ data });
  });
  log.info({ builderId }, 'console_session.created');
  return secret;
}

/** Returns the session with this secret. Throws UNAUTHENTICATED if it has ended. */
export async function getConsoleSession(
  services: RowServices,
  secret: string,
): Promise<ConsoleSession> {
  const row = SECRET_PATTERN.test(secret)
    ? await services.database.prisma.consoleSession.findUnique({
        where: { id: hashSecret(secret) },
        include: { builder: { include: { memberships: { select: { orgId: true, role: true } } } } },
      })
    : null;
  if (!row || row.expireTime <= services.now()) throw createEndedError();
  const { memberships, ...builder } = row.builder;
  const { expireTime, endTime } = row;
  return { builder, roles: createOrgRoles(memberships), expireTime, endTime };
}

/** Extends a session after activity, at most to its `endTime`. Throws UNAUTHENTICATED if it has ended. */
export async function renewConsoleSession(
  services: CoreServices,
  secret: string,
): Promise<ConsoleSession> {
  const session = await getConsoleSession(services, secret);
  const expireTime = computeExpireTime(services, session.endTime);
  const { count } = await services.database.prisma.consoleSession.updateMany({
    where: { id: hashSecret(secret), expireTime: { gt: services.now() } },
    data: { expireTime },
  });
  if (count === 0) throw createEndedError();
  return { ...session, expireTime };
}

/**
 * Ends a session: its credential is rejected and its streams end, in this process immediately and in others within a
 * second. Returns the issuer at which the builder signed in. Returns null if the session has ended already.
 */
export async function endConsoleSession(
  { database, log, viewers }: Services,
  secret: string,
): Promise<string | null> {
  const session = await database.prisma.consoleSession
    .delete({
      where: { id: hashSecret(secret) },
      select: { builder: { select: { id: true, idpProvider: true } } },
    })
    .catch((error: unknown) => {
      if (isMissingRow(error)) return null;
      throw error;
    });
  viewers.delete(toConsoleSessionKey(secret));
  if (!session) return null;
  const { id: builderId, idpProvider } = session.builder;
  log.info({ builderId }, 'console_session.ended');
  return idpProvider;
}

/** Returns the key of a session in the cache of viewers. */
export function toConsoleSessionKey(secret: string): string {
  return `session ${secret}`;
}

function computeExpireTime({ config, now }: CoreServices, endTime: Date): Date {
  const idleMs = config.CONSOLE_SESSION_IDLE_MINUTES * MINUTE_MS;
  return new Date(Math.min(now().getTime() + idleMs, endTime.getTime()));
}

function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

function createEndedError() {
  return unauthenticated('The session has ended. Sign in again.');
}
