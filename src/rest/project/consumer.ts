import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { eraseConsumer } from '../../domain/erasure/erase-subject.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listConsumers } from '../../domain/project/consumer.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

export const consumer = resource('Consumer', "One of the builder's users, who connects accounts.", {
  ...createdShape,
  consumerRef: z.string().describe("The builder's own id of the consumer, unique in the project."),
  consumerName: z.string().describe('The name that people see. Default: the ref.'),
  ...updateTimeShape,
});

export function showConsumer({ updateTime, ...row }: Row<'Consumer'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const consumerEndpoints = [
  listEndpoint({
    id: 'listConsumers',
    path: '/projects/{projectIdOrName}/consumers',
    tag: 'Consumers',
    summary: 'Lists consumers, newest first. A consumer is created by its first connection.',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    item: consumer,
    list: within(getOwnProject, listConsumers),
    show: showConsumer,
  }),
  mutationEndpoint({
    id: 'eraseConsumer',
    method: 'DELETE',
    path: '/projects/{projectIdOrName}/consumers/{consumerRef}',
    tag: 'Consumers',
    summary:
      'Erases a consumer with all that names it: connections, installations, operations, events and deliveries.',
    description:
      'Tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. The ref can be used again.',
    mutation: eraseConsumer,
    status: 204,
    output: null,
    show: noBody,
  }),
];
