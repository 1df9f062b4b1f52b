import { z } from 'zod';
import { getInstallationOf } from '../../domain/installation/installation.ts';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import { pauseReads, resumeReads } from '../../domain/operation/read/pause.ts';
import { triggerRead } from '../../domain/operation/read/trigger.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';

const tag = 'Reads';
const ofIntegration = '/projects/{projectIdOrName}/integrations/{integrationId}';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

export const readEndpoints = [
  mutationEndpoint({
    id: 'triggerRead',
    method: 'POST',
    path: `${ofIntegration}/objects/{objectName}:read`,
    tag,
    summary: 'Reads an object once, now, beside its schedule.',
    description:
      'The answer does not wait for the end of the read: its operation tells the outcome, and so does an event.',
    mutation: triggerRead,
    beside: { mode: z.enum(['async']).optional().describe('Always `async`, the default.') },
    places,
    status: 201,
    output: z
      .object({ operationId: z.string().describe('The id of the operation that reads.') })
      .describe('The read has begun: get its operation to see how far it has come.'),
    show: ({ id: operationId }) => ({ operationId }),
  }),
  mutationEndpoint({
    id: 'pauseReads',
    method: 'POST',
    path: `${ofIntegration}/installations/{installationId}:pause`,
    tag,
    summary:
      'Pauses reads of an installation: those under way stop after their page. triggerRead still works.',
    mutation: pauseReads,
    beside: { integrationIdOrName },
    before: ({ call }, input) => getInstallationOf(call, input),
    places,
    status: 204,
    output: null,
    show: noBody,
  }),
  mutationEndpoint({
    id: 'unpauseReads',
    method: 'POST',
    path: `${ofIntegration}/installations/{installationId}:unpause`,
    tag,
    summary: 'Resumes reads that were paused: those under way go on with their next page.',
    mutation: resumeReads,
    beside: { integrationIdOrName },
    before: ({ call }, input) => getInstallationOf(call, input),
    places,
    status: 204,
    output: null,
    show: noBody,
  }),
];
