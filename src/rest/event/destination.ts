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
import {
  maskedTarget,
  signingSecretOf,
  targetValuesOf,
} from '../../domain/event/destination-secret.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
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
const keepInMetadata: Place = { in: 'body', name: 'metadata.keepHeaders' };
const byId: Place = { in: 'path', name: 'destination' };

const destination = resource(
  'Destination',
  'The destination: a receiver of messages. Its `id` is used in routes, its `name` in integrations.',
  {
    ...createdShape,
    name: z.string().describe('Unique in the project: letters, digits and dashes.'),
    type: words('DestinationType', ['WEBHOOK', 'STREAM']).describe(
      'How its receiver gets messages: a webhook is posted them, a stream is read over GraphQL.',
    ),
    metadata: z
      .object({
        url: z
          .string()
          .optional()
          .describe(
            'For a webhook: the URL that messages are posted to, with `***` for each value of its query.',
          ),
        headers: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('HTTP headers that are sent with every message: `***` by name.'),
      })
      .describe('The URL of a webhook, and the headers that are sent; empty for a stream.'),
    status: words('DestinationStatus', ['ENABLED', 'DISABLED']).describe(
      'Whether messages are sent to it; if not, they stay pending.',
    ),
    disabledReason: z
      .string()
      .optional()
      .describe('Why it is disabled; left out if it is enabled.'),
    secrets: z
      .object({
        webhookSigningKey: z
          .string()
          .describe('The secret that signs every message (Standard Webhooks, whsec_...).'),
        url: z
          .string()
          .optional()
          .describe('`metadata.url` with the values of its query, if includeSecrets is true.'),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .describe('Values of `metadata.headers` by name, if includeSecrets is true.'),
      })
      .optional()
      .describe('Of a webhook: in the response that creates it, and if includeSecrets is true.'),
    ...updateTimeShape,
  },
);

interface Values {
  url: string | null;
  headers: Record<string, string> | null;
}

function showDestination(
  row: Row<'Destination'>,
  webhookSigningKey?: string | null,
  values?: Values | null,
) {
  const { disabledReason, updateTime, ...rest } = row;
  const { url, headers } = maskedTarget(row);
  return {
    ...rest,
    type: wordOf('DestinationType', row.type),
    metadata: {
      url: url ?? undefined,
      headers: headers ?? undefined,
    },
    status: wordOf('DestinationStatus', row.status),
    disabledReason: disabledReason ?? undefined,
    secrets: webhookSigningKey
      ? {
          webhookSigningKey,
          url: values?.url ?? undefined,
          headers: values?.headers ?? undefined,
        }
      : undefined,
    updateTime: updateTime ?? undefined,
  };
}

const secrets = z
  .strictObject({})
  .optional()
  .describe('Empty: the gateway makes the secret that signs messages.');

export const destinationEndpoints = [
  listEndpoint({
    id: 'listDestinations',
    path,
    tag,
    summary: 'Lists destinations, newest first.',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    item: destination,
    list: within(getOwnProject, listDestinations),
    show: (row: Row<'Destination'>) => showDestination(row),
  }),
  mutationEndpoint({
    id: 'createDestination',
    method: 'POST',
    path,
    tag,
    summary: 'Creates a destination, to which routes lead events and integrations send records.',
    mutation: createDestination,
    beside: { secrets },
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
    summary: 'Gets a destination by id or name.',
    needs: getDestination.needs,
    memberNeeds: { includeSecrets: signingSecretOf.needs, rotate: rotateDestinationSecret.needs },
    input: z.object({
      projectIdOrName,
      destination: z.string().min(1).max(64).describe('The id or the name of the destination.'),
      includeSecrets: z
        .boolean()
        .default(false)
        .describe('Whether the answer has `secrets`. Default: false.'),
      rotate: z
        .boolean()
        .default(false)
        .describe(
          'Gives it a new secret first; for 24 hours the previous one signs too. Default: false.',
        ),
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
    summary:
      'Changes a destination, by its id. If it is enabled again, its pending messages are sent now.',
    mutation: updateDestination,
    places: { ...inMetadata, keepHeaders: keepInMetadata, destinationId: byId },
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
    summary:
      'Deletes a destination, by its id, and its routes. Its pending deliveries fail, and the messages of a stream are deleted.',
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
  const values = includeSecrets ? await find(targetValuesOf, found) : null;
  if (!rotate) {
    const secret = includeSecrets ? await find(signingSecretOf, found) : null;
    return showDestination(found, secret, values);
  }
  const input = { projectIdOrName: project, destinationId: found.id };
  const rotated = await rotateDestinationSecret(call, input);
  return showDestination(
    rotated.destination,
    includeSecrets ? rotated.signingSecret : null,
    values,
  );
}
