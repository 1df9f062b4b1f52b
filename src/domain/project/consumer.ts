/** Consumers: the builder's users who connect accounts. Their first connection creates them, and they stay. */

import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import { newId } from '../../ids.ts';
import { byName, load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { pageOfSearch, type searchFilters } from '../paging/search.ts';
import { findInProject } from '../scope.ts';

type Consumer = Row<'Consumer'>;

export const listConsumers = read(
  'read',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof searchFilters>,
  ) => {
    const list = { name: 'Project.consumers', parentId: projectId, table: 'Consumer' } as const;
    const ofAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return pageOfSearch(call, list, args, ofAll);
  },
);

export function findConsumerByRef(
  call: Call,
  { projectId, consumerRef }: Pick<Consumer, 'projectId' | 'consumerRef'>,
): Promise<Consumer | null> {
  return load(call, consumersByRef, { projectId, name: consumerRef });
}

const consumersByRef = byName(
  (call, { projectId, name }) => findInProject(call, 'Consumer', { projectId, consumerRef: name }),
  ({ consumerRef }) => consumerRef,
);

/**
 * The consumer with that ref, created at its first use. Its name is the ref by default; a name that is given
 * later replaces it. Its row stays locked until the commit.
 */
export async function putConsumer(
  tx: Transaction,
  { projectId, consumerRef, consumerName }: Pick<Consumer, 'projectId' | 'consumerRef'> & Named,
  now: Date,
): Promise<Consumer> {
  // With something to update, this is one INSERT ... ON CONFLICT: two first uses make one row.
  const consumer = await tx.consumer.upsert({
    where: { projectId_consumerRef: { projectId, consumerRef } },
    create: {
      id: newId('csm'),
      projectId,
      consumerRef,
      consumerName: consumerName ?? consumerRef,
    },
    update: { consumerRef },
  });
  if (consumerName == null || consumerName === consumer.consumerName) return consumer;
  return tx.consumer.update({
    where: { projectId_id: { projectId, id: consumer.id } },
    data: { consumerName, updateTime: now },
  });
}

interface Named {
  consumerName?: string | null;
}
