/** Registers the routes of the sign-in to the console. */
import type { FastifyInstance } from 'fastify';
import { toIssues } from '../../domain/issues.ts';
import {
  createLocalSignIn,
  hasLocalSignIn,
  localSignInInput,
} from '../../domain/viewer/local-sign-in.ts';
import { DomainError, invalidInput } from '../../errors.ts';
import { registerOpenIdSignIn } from './openid-routes.ts';
import {
  openSession,
  registerSession,
  requireOwnPage,
  type SignInParts,
} from './session-routes.ts';
import { SIGN_IN_PATH } from './sign-in-urls.ts';

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

/** Far more than the longest email address, name and password. */
const BODY_BYTES_MAX = 8_192;

/** Signs a person in with the password of the local issuer, for the gateway's own pages. */
function registerLocalSignIn(scope: FastifyInstance, parts: SignInParts): void {
  const { services, cors } = parts;
  const signIn = createLocalSignIn(services);
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_BYTES_MAX },
    scope.getDefaultJsonParser('error', 'error'),
  );
  scope.post(`${SIGN_IN_PATH}/local`, async (request, reply) => {
    if (!hasLocalSignIn(services)) {
      const detail = 'This gateway has no sign-in at the local issuer: see LOCAL_ISSUER_PASSWORD.';
      throw new DomainError('NOT_FOUND', detail);
    }
    requireOwnPage(cors.isFromOwnPage(request.headers));
    const { data, error } = localSignInInput.safeParse(request.body);
    if (error) throw invalidInput(toIssues(error, request.body));
    await openSession(parts, signIn(data, request.metadata), reply);
    return reply.code(204).send();
  });
}
