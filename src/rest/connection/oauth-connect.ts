import { z } from 'zod';
import { startOAuthConnect } from '../../domain/connection/oauth-connect.ts';
import { startOAuthUpdate } from '../../domain/connection/oauth-update.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';

const tag = 'Connections';
const authorizeUrl = z
  .url()
  .describe("The URL of the provider's page of consent. Send the person's browser there.");

const enableCSRFProtection = z
  .boolean()
  .optional()
  .describe('Not needed: the state of a connect is secret and works once in any case.');

export const oauthConnectEndpoints = [
  mutationEndpoint({
    id: 'startOAuthConnect',
    method: 'POST',
    path: '/oauth-connect',
    tag,
    summary: 'Begins a connect in a browser.',
    description:
      'The person must consent within 10 minutes. The callback then creates or renews the connection.',
    mutation: startOAuthConnect,
    beside: { enableCSRFProtection },
    status: 200,
    mediaType: 'text/plain',
    output: authorizeUrl,
    show: (started) => started.authorizeUrl,
  }),
  mutationEndpoint({
    id: 'startOAuthUpdate',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}/connections/{connectionId}:oauth-update',
    tag,
    summary: 'Begins a new consent in a browser for an existing connection.',
    description:
      'The person must consent within 10 minutes. The callback then renews the connection.',
    mutation: startOAuthUpdate,
    places: { returnUrl: { in: 'body', name: 'redirectUrl' } },
    status: 200,
    mediaType: 'text/plain',
    output: authorizeUrl,
    show: (started) => started.authorizeUrl,
  }),
];
