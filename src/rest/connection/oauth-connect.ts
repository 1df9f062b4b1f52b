import { z } from 'zod';
import { startOAuthConnectInput } from '../../domain/connection/connection-input.ts';
import { startOAuthConnect } from '../../domain/connection/oauth-connect.ts';
import { startOAuthUpdate, startOAuthUpdateInput } from '../../domain/connection/oauth-update.ts';
import { endpoint } from '../endpoint/endpoint.ts';

const tag = 'Connections';
const authorizeUrl = z.url().describe("The provider's page of consent: where the browser goes.");

export const oauthConnectEndpoints = [
  endpoint({
    id: 'startOAuthConnect',
    method: 'POST',
    path: '/oauth-connect',
    tag,
    summary: 'Starts a connect of a person at a browser.',
    description: 'The person has ten minutes; the callback makes or renews the connection.',
    needs: 'connections:write',
    input: startOAuthConnectInput,
    status: 200,
    mediaType: 'text/plain',
    output: authorizeUrl,
    run: async ({ call }, input) => (await startOAuthConnect(call, input)).authorizeUrl,
  }),
  endpoint({
    id: 'startOAuthUpdate',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}/connections/{connectionId}:oauth-update',
    tag,
    summary: 'Starts a new consent of a person at a browser to a connection that there is.',
    description: 'The person has ten minutes; the callback renews the connection.',
    needs: 'connections:write',
    input: startOAuthUpdateInput,
    status: 200,
    mediaType: 'text/plain',
    output: authorizeUrl,
    run: async ({ call }, input) => (await startOAuthUpdate(call, input)).authorizeUrl,
  }),
];
