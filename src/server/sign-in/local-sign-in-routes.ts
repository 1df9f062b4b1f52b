/** The route `/sign-in/local`: signs a person in with the password of the local issuer, for the gateway's own pages. */
import type { FastifyInstance } from 'fastify';
import { toIssues } from '../../domain/issues.ts';
import {
  createLocalSignIn,
  hasLocalSignIn,
  localSignInInput,
} from '../../domain/viewer/local-sign-in.ts';
import { DomainError, invalidInput } from '../../errors.ts';
import { openSession } from './open-session.ts';
import { requireOwnPage } from './session-routes.ts';
import type { SignInParts } from './sign-in-routes.ts';
import { SIGN_IN_PATH } from './sign-in-urls.ts';

/** Far more than the longest email address, name and password. */
const BODY_BYTES_MAX = 8_192;

export function registerLocalSignIn(scope: FastifyInstance, parts: SignInParts): void {
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
    await openSession(parts, signIn(data, request.metadata), { request, reply });
    return reply.code(204).send();
  });
}
