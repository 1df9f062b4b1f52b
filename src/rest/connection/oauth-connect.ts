import { z } from 'zod';
import { startOAuthConnect } from '../../domain/connection/oauth-connect.ts';
import { startOAuthUpdate } from '../../domain/connection/oauth-update.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';

const tag = 'Connections';
const authorizeUrl = z.url().describe("The provider's page of consent: where the browser goes.");

export const oauthConnectEndpoints = [
  mutationEndpoint({
    id: 'startOAuthConnect',
    method: 'POST',
    path: '/oauth-connect',
    tag,
    summary: 'Starts a connect of a person at a browser.',
    description: 'The person has ten minutes; the callback makes or renews the connection.',
    mutation: startOAuthConnect,
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
    summary: 'Starts a new consent of a person at a browser to a connection that there is.',
    description: 'The person has ten minutes; the callback renews the connection.',
    mutation: startOAuthUpdate,
    status: 200,
    mediaType: 'text/plain',
    output: authorizeUrl,
    show: (started) => started.authorizeUrl,
  }),
];
