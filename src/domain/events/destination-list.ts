/** Lists the destinations of a project. */
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import type { Call } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import { refuseCombinations } from '../access/paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { listSearchPage, searchFilters } from '../access/paging/search.ts';

export const destinationFilters = z.object({
  failing: z
    .boolean()
    .optional()
    .describe(
      'If true, only destinations whose latest attempt failed. If false, only other destinations. Cannot be combined with search.',
    ),
  ...searchFilters.shape,
});

export const EXCLUSIVE_DESTINATION_FILTERS = [['search', 'failing']] as const;

/** Matches every time, but not null. */
const ANY_TIME = { from: new Date(0) };

export const listDestinations = read(
  'read',
  'Lists destinations, newest first.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { failing, ...args }: PageArgs & FiltersOf<typeof destinationFilters>,
  ) => {
    refuseCombinations({ failing, ...args }, EXCLUSIVE_DESTINATION_FILTERS);
    const list = {
      name: 'Project.destinations',
      parentId: projectId,
      table: 'Destination',
    } as const;
    const condition = failing == null ? {} : { failingSince: failing ? ANY_TIME : null };
    const listAll = () => listPage(call, { ...list, where: { projectId, ...condition } }, args);
    return listSearchPage(call, list, args, listAll);
  },
);
