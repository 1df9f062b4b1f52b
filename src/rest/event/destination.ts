import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  createDestination,
  deleteDestination,
  getDestination,
  listDestinations,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/event/destination.ts';
import { signingSecretOf } from '../../domain/event/destination-secret.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Destinations';
const path = '/projects/{projectIdOrName}/destinations';
const inMetadata: Record<'url' | 'headers', Place> = {
  url: { in: 'body', name: 'metadata.url' },
  headers: { in: 'body', name: 'metadata.headers' },
};
const byId: Place = { in: 'path', name: 'destination' };

const destination = resource('Destination', 'Where messages are sent.', {
  ...createdShape,
  name: z.string().describe('Its name, unique in the project.'),
  type: words('DestinationType', ['WEBHOOK']).describe('What it is.'),
  metadata: z
    .object({
      url: z.string().optional().describe('Where a webhook posts to.'),
      headers: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('HTTP headers that are sent with every message, by name.'),
    })
    .describe('How it is reached.'),
  status: words('DestinationStatus', ['ENABLED', 'DISABLED']).describe('Whether it is sent to.'),
  disabledReason: z.string().optional().describe('Why it is disabled.'),
  secrets: z
    .object({ webhookSigningKey: z.string().describe('Signs every message (whsec_...).') })
    .optional()
    .describe('In the answer that makes it, and where includeSecrets asks for them.'),
  ...updateTimeShape,
});

function showDestination(row: Row<'Destination'>, webhookSigningKey?: string | null) {
  const { url, headers, disabledReason, updateTime, ...rest } = row;
  return {
    ...rest,
    type: wordOf('DestinationType', row.type),
    metadata: {
      url: url ?? undefined,
      headers: (headers ?? undefined) as Record<string, unknown> | undefined,
    },
    status: wordOf('DestinationStatus', row.status),
    disabledReason: disabledReason ?? undefined,
    secrets: webhookSigningKey ? { webhookSigningKey } : undefined,
    updateTime: updateTime ?? undefined,
  };
}

export const destinationEndpoints = [
  listEndpoint({
    id: 'listDestinations',
    path,
    tag,
    summary: 'Lists destinations, newest first.',
    input: z.object({ projectIdOrName }),
    item: destination,
    list: within(getOwnProject, listDestinations),
    show: (row: Row<'Destination'>) => showDestination(row),
  }),
  mutationEndpoint({
    id: 'createDestination',
    method: 'POST',
    path,
    tag,
    summary: 'Makes a destination.',
    mutation: createDestination,
    places: inMetadata,
    status: 201,
    output: destination,
    show: ({ destination: made, signingSecret }) => showDestination(made, signingSecret),
  }),
  endpoint({
    id: 'getDestination',
    method: 'GET',
    path: `${path}/{destination}`,
    tag,
    summary: 'Gives a destination by name or id.',
    description: `includeSecrets needs the scope \`${signingSecretOf.needs}\`, and rotate \`${rotateDestinationSecret.needs}\`.`,
    needs: getDestination.needs,
    input: z.object({
      projectIdOrName,
      destination: z.string().min(1).max(64).describe('Its name or its id.'),
      includeSecrets: z.boolean().default(false).describe('Whether to show its secrets.'),
      rotate: z
        .boolean()
        .default(false)
        .describe('Gives it a new secret first; the one before signs beside it for a day.'),
    }),
    status: 200,
    output: destination,
    run: readDestination,
  }),
  mutationEndpoint({
    id: 'updateDestination',
    method: 'PATCH',
    path: `${path}/{destination}`,
    tag,
    summary: 'Changes a destination, by its id. One that is enabled again is sent what it is owed.',
    mutation: updateDestination,
    places: { ...inMetadata, destinationId: byId },
    mask: 'destination',
    status: 200,
    output: destination,
    show: (changed) => showDestination(changed),
  }),
  mutationEndpoint({
    id: 'deleteDestination',
    method: 'DELETE',
    path: `${path}/{destination}`,
    tag,
    summary: 'Deletes a destination, by its id, and its routes.',
    mutation: deleteDestination,
    places: { destinationId: byId },
    status: 204,
    output: null,
    show: noBody,
  }),
];

interface Wanted {
  projectIdOrName: string;
  destination: string;
  includeSecrets: boolean;
  rotate: boolean;
}

async function readDestination({ call, find }: RestRequest, wanted: Wanted) {
  const { projectIdOrName: project, includeSecrets, rotate } = wanted;
  const found = await getDestination(call, wanted);
  if (!rotate)
    return showDestination(found, includeSecrets ? await find(signingSecretOf, found) : null);
  const input = { projectIdOrName: project, destinationId: found.id };
  const rotated = await rotateDestinationSecret(call, input);
  return showDestination(rotated.destination, includeSecrets ? rotated.signingSecret : null);
}
