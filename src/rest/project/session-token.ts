import { z } from 'zod';
import { createSessionToken } from '../../domain/project/session-token.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';

export const sessionTokenEndpoints = [
  mutationEndpoint({
    id: 'createSessionToken',
    method: 'POST',
    path: '/projects/{projectIdOrName}/session-tokens',
    tag: 'End users',
    mutation: createSessionToken,
    status: 201,
    output: z
      .object({
        token: z.string().describe('The token: pages send it as `Authorization: Bearer`.'),
        expireTime: z.date().describe('The token is refused from this time on.'),
        connectUrl: z.string().describe('The hosted page on which this user connects and chooses.'),
      })
      .describe('The token. Only this answer has it.'),
    show: (made) => made,
  }),
];
