/** Registers the routes of the sign-in to the console. */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../domain/call.ts';
import type { Admission } from '../../domain/viewer/admission.ts';
import type { Cors } from '../http/cors.ts';
import type { SessionCookie } from '../http/session-cookie.ts';
import { registerLocalSignIn } from './local-sign-in-routes.ts';
import { registerOpenIdSignIn } from './openid-routes.ts';
import { registerSession } from './session-routes.ts';

export interface SignInParts {
  services: Services;
  admission: Admission;
  cors: Cors;
  sessionCookie: SessionCookie;
}

export function registerSignIn(scope: FastifyInstance, parts: SignInParts): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    // URLs of callbacks contain codes.
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  registerSession(scope, parts);
  registerOpenIdSignIn(scope, parts);
  registerLocalSignIn(scope, parts);
}
