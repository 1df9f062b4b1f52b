/**
 * Consumers: the builder's users who connect accounts. The first use of a ref creates its consumer, which exists until it
 * is erased.
 */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { byName, load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { listSearchPage, type searchFilters } from '../paging/search.ts';
import { createdInProject, resource, updateTime } from '../resource.ts';
import { findProjectRows } from '../scope.ts';

type Consumer = Row<'Consumer'>;

export const consumerResource = resource(
  'Consumer',
  "One of the builder's users, who has connected an account.",
  {
    ...createdInProject,
    consumerRef: z
      .string()
      .describe("The builder's own id for the consumer, unique in the project."),
    consumerName: z.string().describe('The display name. Default: the ref.'),
    updateTime,
  },
);

export const listConsumers = read(
  'read',
  'Lists consumers, newest first. The first connection of a consumer creates it.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof searchFilters>,
  ) => {
    const list = { name: 'Project.consumers', parentId: projectId, table: 'Consumer' } as const;
    const listAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return listSearchPage(call, list, args, listAll);
  },
);

export function findConsumerByRef(
  call: Call,
  { projectId, consumerRef }: Pick<Consumer, 'projectId' | 'consumerRef'>,
): Promise<Consumer | null> {
  return load(call, consumersByRef, { projectId, name: consumerRef });
}

const consumersByRef = byName(
  (call, { projectId, name }) =>
    findProjectRows(call, 'Consumer', { projectId, consumerRef: name }),
  ({ consumerRef }) => consumerRef,
);
