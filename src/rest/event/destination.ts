import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import {
  createDestination,
  deleteDestination,
  destinationResource,
  getDestination,
  listDestinations,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/event/destination.ts';
import { readSigningSecret, readTargetValues } from '../../domain/event/destination-secret.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'Destinations';
const path = '/projects/{projectIdOrName}/destinations';
const inMetadata: Record<'url' | 'headers', Place> = {
  url: { in: 'body', name: 'metadata.url' },
  headers: { in: 'body', name: 'metadata.headers' },
};
const keepInMetadata: Place = { in: 'body', name: 'metadata.keepHeaders' };
const byId: Place = { in: 'path', name: 'destination' };

const destination = responseOf(destinationResource, ({ url, headers, ...members }) => ({
  ...members,
  metadata: z
    .object({ url, headers } as Record<string, z.ZodType>)
    .describe('The URL and the headers of a webhook. Empty for a stream.'),
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
    .describe('For a webhook: in the response that creates it, and if includeSecrets is true.'),
}));

interface Values {
  url: string | null;
  headers: Record<string, string> | null;
}

function showDestination(
  request: RestRequest,
  row: Row<'Destination'>,
  webhookSigningKey?: string | null,
  values?: Values | null,
) {
  const { url, headers, ...members } = showResource(destinationResource, row, request);
  const secrets = webhookSigningKey && {
    webhookSigningKey,
    url: values?.url ?? undefined,
    headers: values?.headers ?? undefined,
  };
  return { ...members, metadata: { url, headers }, secrets: secrets || undefined };
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
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    item: destination,
    list: readWithin(getOwnProject, listDestinations),
    show: (row: Row<'Destination'>, request) => showDestination(request, row),
  }),
  mutationEndpoint({
    id: 'createDestination',
    method: 'POST',
    path,
    tag,
    mutation: createDestination,
    extraInput: { secrets },
    places: inMetadata,
    status: 201,
    output: destination,
    show: ({ destination, signingSecret }, request) =>
      showDestination(request, destination, signingSecret),
  }),
  endpoint({
    id: 'getDestination',
    method: 'GET',
    path: `${path}/{destination}`,
    tag,
    summary: getDestination.description,
    needs: getDestination.needs,
    memberNeeds: { includeSecrets: readSigningSecret.needs, rotate: rotateDestinationSecret.needs },
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
    mutation: updateDestination,
    places: { ...inMetadata, keepHeaders: keepInMetadata, destinationId: byId },
    mask: 'destination',
    status: 200,
    output: destination,
    show: (row, request) => showDestination(request, row),
  }),
  deleteEndpoint({
    id: 'deleteDestination',
    path: `${path}/{destination}`,
    tag,
    mutation: deleteDestination,
    places: { destinationId: byId },
  }),
];

interface Wanted {
  projectIdOrName: string;
  destination: string;
  includeSecrets: boolean;
  rotate: boolean;
}

async function readDestination(request: RestRequest, wanted: Wanted) {
  const { call, find } = request;
  const { projectIdOrName: project, includeSecrets, rotate } = wanted;
  const found = await getDestination(call, wanted);
  const values = includeSecrets ? await find(readTargetValues, found) : null;
  if (!rotate) {
    const secret = includeSecrets ? await find(readSigningSecret, found) : null;
    return showDestination(request, found, secret, values);
  }
  const input = { projectIdOrName: project, destinationId: found.id };
  const rotated = await rotateDestinationSecret(call, input);
  return showDestination(
    request,
    rotated.destination,
    includeSecrets ? rotated.signingSecret : null,
    values,
  );
}
