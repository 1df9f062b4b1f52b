import { z } from 'zod';
import { readWithin } from '../../domain/access/declared-read.ts';
import type { Row } from '../../domain/access/scope.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { computed } from '../../domain/base/resource.ts';
import {
  createDestination,
  deleteDestination,
  getDestination,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/events/destination.ts';
import { destinationFilters, listDestinations } from '../../domain/events/destination-list.ts';
import { destinationResource } from '../../domain/events/destination-resource.ts';
import { readSigningSecret, readTargetValues } from '../../domain/events/destination-secret.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import type { Location } from '../endpoint/request-form.ts';
import { deleteEndpoint, listEndpoint, mutationEndpoint } from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Destinations';
const path = '/projects/{projectIdOrName}/destinations';
const inMetadata: Record<'url' | 'headers', Location> = {
  url: { in: 'body', name: 'metadata.url' },
  headers: { in: 'body', name: 'metadata.headers' },
};
const keepHeadersInMetadata: Location = { in: 'body', name: 'metadata.keepHeaders' };
const destinationInPath: Location = { in: 'path', name: 'destination' };

/** A destination, with its secrets if the response includes them. */
type DestinationWithSecrets = Row<'Destination'> & { secrets?: z.output<typeof secretsInResponse> };

const { url, headers } = destinationResource.shape;

const secretsInResponse = z
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
  .describe('For a webhook: in the response that creates it, and if includeSecrets is true.');

const destination = extendResource(destinationResource, {
  url: null,
  headers: null,
  metadata: computed(
    z
      .object({ url, headers })
      .describe('The URL and the headers of a webhook. Empty for a stream.'),
    (row: Row<'Destination'>) => row,
  ),
  secrets: secretsInResponse,
});

const secretsInRequest = z
  .strictObject({})
  .optional()
  .describe('Must be empty, because the gateway creates the secret that signs messages.');

const getDestinationInput = z.object({
  projectIdOrName,
  destination: z.string().min(1).max(64).describe('The id or the name of the destination.'),
  includeSecrets: z
    .boolean()
    .default(false)
    .describe('Whether the response has `secrets`. Default: false.'),
  rotate: z
    .boolean()
    .default(false)
    .describe(
      'Whether to rotate the signing secret first. The previous secret also signs messages for 24 hours. Default: false.',
    ),
});

export const destinationEndpoints = [
  listEndpoint({
    id: 'listDestinations',
    path,
    tag,
    input: z.object({ projectIdOrName, ...destinationFilters.shape }),
    list: readWithin(getRequestedProject, listDestinations),
    resource: destination,
  }),
  mutationEndpoint({
    id: 'createDestination',
    method: 'POST',
    path,
    tag,
    mutation: createDestination,
    extraInput: { secrets: secretsInRequest },
    locations: inMetadata,
    status: 201,
    resource: destination,
    show: ({ destination: row, signingSecret: webhookSigningKey }): DestinationWithSecrets =>
      webhookSigningKey === null ? row : { ...row, secrets: { webhookSigningKey } },
  }),
  endpoint({
    id: 'getDestination',
    method: 'GET',
    path: `${path}/{destination}`,
    tag,
    summary: getDestination.description,
    needs: getDestination.needs,
    memberNeeds: { includeSecrets: readSigningSecret.needs, rotate: rotateDestinationSecret.needs },
    input: getDestinationInput,
    status: 200,
    resource: destination,
    run: readDestination,
  }),
  mutationEndpoint({
    id: 'updateDestination',
    method: 'PATCH',
    path: `${path}/{destination}`,
    tag,
    mutation: updateDestination,
    locations: {
      ...inMetadata,
      keepHeaders: keepHeadersInMetadata,
      destinationId: destinationInPath,
    },
    mask: 'destination',
    status: 200,
    resource: destination,
  }),
  deleteEndpoint({
    id: 'deleteDestination',
    path: `${path}/{destination}`,
    tag,
    mutation: deleteDestination,
    locations: { destinationId: destinationInPath },
  }),
];

async function readDestination(
  { call, find }: RestRequest,
  { includeSecrets, rotate, ...key }: z.output<typeof getDestinationInput>,
): Promise<DestinationWithSecrets> {
  let row = await getDestination(call, key);
  if (rotate) {
    const { projectIdOrName } = key;
    const rotated = await rotateDestinationSecret(call, { projectIdOrName, destinationId: row.id });
    row = rotated.destination;
  }
  if (!includeSecrets) return row;
  const [webhookSigningKey, target] = await Promise.all([
    find(readSigningSecret, row),
    find(readTargetValues, row),
  ]);
  if (webhookSigningKey === null) return row;
  const url = target.url ?? undefined;
  const headers = target.headers ?? undefined;
  return { ...row, secrets: { webhookSigningKey, url, headers } };
}
