import { z } from 'zod';
import { generateConnection } from '../../../domain/connections/connection/connection-generation.ts';
import { startOAuthConnect } from '../../../domain/connections/connection/oauth-connect.ts';
import { startOAuthUpdate } from '../../../domain/connections/connection/oauth-update.ts';
import { invalid } from '../../../kernel/errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';
import { connection } from './connection-view.ts';

const tag = 'Connections';
const authorizeUrl = z
  .url()
  .describe(
    "The gateway's link to the provider's consent page. Open it in the person's browser, which must accept cookies of the gateway.",
  );

/** Ignored, because clients of the reference API always send false, and that must not turn off the protection. */
const enableCSRFProtection = z
  .boolean()
  .optional()
  .describe(
    'Ignored: the protection is always on. The link works once, in the browser that opened it.',
  );

/** In the reference API, connecting can take several steps, and these members continue it. */
const unsupportedStepInputs = {
  sessionId: z
    .string()
    .max(1_024)
    .optional()
    .describe('Not supported, because every provider connects in one step.'),
  callbackParams: z
    .record(z.string(), z.string())
    .optional()
    .describe('Not supported, because every provider connects in one step.'),
};

export const oauthConnectEndpoints = [
  mutationEndpoint({
    id: 'startOAuthConnect',
    method: 'POST',
    path: '/oauth-connect',
    tag,
    mutation: startOAuthConnect,
    extraInput: { enableCSRFProtection },
    status: 200,
    mediaType: 'text/plain',
    resource: authorizeUrl,
    show: (started) => started.authorizeUrl,
  }),
  mutationEndpoint({
    id: 'startOAuthUpdate',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}/connections/{connectionId}:oauth-update',
    tag,
    summary: 'Begins a new consent in a browser for an existing connection.',
    description:
      'The person must consent within 10 minutes, in the browser that opened the link. The callback then renews the connection.',
    mutation: startOAuthUpdate,
    locations: { returnUrl: { in: 'body', name: 'redirectUrl' } },
    status: 200,
    mediaType: 'text/plain',
    resource: authorizeUrl,
    show: (started) => started.authorizeUrl,
  }),
  mutationEndpoint({
    id: 'connectByCustomAuth',
    method: 'POST',
    path: '/custom-auth/connect',
    tag,
    summary: 'Connects an account with the inputs that its provider declares.',
    description: 'The response has the connection, because every provider connects in one step.',
    mutation: generateConnection,
    extraInput: unsupportedStepInputs,
    precheck: refuseStepInputs,
    status: 200,
    resource: z.object({ connection }).describe('The connection.'),
    show: (connection) => ({ connection }),
  }),
];

async function refuseStepInputs(
  _request: RestRequest,
  { sessionId, callbackParams }: { sessionId?: string; callbackParams?: object },
): Promise<void> {
  const detail = 'is not supported, because every provider connects in one step.';
  if (sessionId !== undefined) throw invalid(['sessionId'], detail);
  if (callbackParams !== undefined) throw invalid(['callbackParams'], detail);
}
