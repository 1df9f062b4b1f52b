import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { getInstallationOf } from '../../domain/installation/installation.ts';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import {
  pauseReads,
  pauseReadsInput,
  resumeReads,
  resumeReadsInput,
} from '../../domain/operation/read/pause.ts';
import { triggerRead, triggerReadInput } from '../../domain/operation/read/trigger.ts';
import { uncheckedEndpoint } from '../endpoint/endpoint.ts';
import type { Place } from '../endpoint/places.ts';

const tag = 'Reads';
const ofIntegration = '/projects/{projectIdOrName}/integrations/{integrationId}';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

type InPath = z.output<typeof pauseReadsInput> & { integrationIdOrName: string };

/** The installation must be one of the integration that the path names. */
function changing(change: typeof pauseReads) {
  return async ({ call }: { call: Call }, { integrationIdOrName, ...input }: InPath) => {
    await getInstallationOf(call, { ...input, integrationIdOrName });
    await change(call, input);
  };
}

export const readEndpoints = [
  uncheckedEndpoint({
    id: 'triggerRead',
    method: 'POST',
    path: `${ofIntegration}/objects/{objectName}:read`,
    tag,
    summary: 'Reads an object now, once, beside its schedule.',
    description: "Doesn't wait for the end: the operation tells of it, and so does an event.",
    needs: 'reads:control',
    input: z.object({
      ...triggerReadInput.shape,
      mode: z.enum(['async']).optional().describe('Only async.'),
    }),
    places,
    status: 201,
    output: z
      .object({ operationId: z.string().describe('The id of the operation that reads.') })
      .describe('The read has begun: get its operation to see how far it has come.'),
    async run({ call }, { mode: _mode, ...input }) {
      return { operationId: (await triggerRead(call, input)).id };
    },
  }),
  uncheckedEndpoint({
    id: 'pauseReads',
    method: 'POST',
    path: `${ofIntegration}/installations/{installationId}:pause`,
    tag,
    summary: 'Pauses scheduled reads of an installation. Triggered reads stay possible.',
    needs: 'reads:control',
    input: z.object({ ...pauseReadsInput.shape, integrationIdOrName }),
    places,
    status: 204,
    output: null,
    run: changing(pauseReads),
  }),
  uncheckedEndpoint({
    id: 'unpauseReads',
    method: 'POST',
    path: `${ofIntegration}/installations/{installationId}:unpause`,
    tag,
    summary: 'Goes on with scheduled reads that were paused.',
    needs: 'reads:control',
    input: z.object({ ...resumeReadsInput.shape, integrationIdOrName }),
    places,
    status: 204,
    output: null,
    run: changing(resumeReads),
  }),
];
