import { z } from 'zod';
import { projectIdOrName } from '../../domain/names.ts';
import { listConsumers } from '../../domain/project/consumer.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { within } from '../../domain/declared-read.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

export const consumer = resource('Consumer', "One of the builder's users, who connects accounts.", {
  ...createdShape,
  consumerRef: z.string().describe("The builder's own name of it."),
  consumerName: z.string().describe('What people call it.'),
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
    summary: 'Lists consumers, newest first. They are made by their first connection.',
    input: z.object({ projectIdOrName }),
    item: consumer,
    list: within(getOwnProject, listConsumers),
    show: showConsumer,
  }),
];
