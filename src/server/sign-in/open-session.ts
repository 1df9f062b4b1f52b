/** Completes every sign-in: enrolls the builder, and opens a session with its cookie. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/call.ts';
import { type BearerClaims, enrollBuilder } from '../../domain/viewer/bearer.ts';
import { createSession, endSession } from '../../domain/viewer/console-session.ts';
import type { SessionCookie } from '../http/session-cookie.ts';

/**
 * Signs the person in, with a new secret in the browser's cookie. The browser's earlier session ends. This prevents
 * session fixation: a secret that an attacker has planted in the browser never belongs to the person's session.
 */
export async function openSession(
  { services, sessionCookie }: { services: Services; sessionCookie: SessionCookie },
  claims: BearerClaims,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<void> {
  const { builder } = await enrollBuilder(services, claims);
  const secret = await createSession(services, builder.id);
  const { session } = request.metadata;
  if (session) await endSession(services, session.secret);
  reply.header('set-cookie', sessionCookie.set(secret));
}
