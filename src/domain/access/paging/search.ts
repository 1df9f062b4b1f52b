/** Searches lists by the first letters of a word in a name or a ref (docs/decisions/023-search-by-words.md). */
import { z } from 'zod';
import { sqlStatement } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { load } from '../batched.ts';
import type { Call, RowCall } from '../call.ts';
import { type Batch, byId, listProjectRows, type ProjectTable } from '../scope.ts';
import type { FiltersOf, Page, PageArgs } from './page.ts';
import { createArrayPage } from './page-of-array.ts';
import { listPage } from './page-of-rows.ts';

/** The maximum length of a stored word, in characters. A longer search would match nothing. */
const SEARCH_MAX = 64;
/** Sorts after every word with the same beginning. */
const LAST_CHARACTER = '\u{10FFFF}';

export const searchFilters = z.object({
  search: z
    .string()
    .max(SEARCH_MAX)
    .optional()
    .describe(
      `Only items whose name or ref has a word that starts with this text, in upper or lower case. The items are ordered by the matching words. At most ${SEARCH_MAX} characters. Cannot be combined with other filters.`,
    ),
});

interface SearchedList<T extends ProjectTable> {
  /** The name of the list without a search. A search has separate cursors. */
  name: string;
  parentId: string;
  table: T;
}

/** Returns a page of the project's rows that match the search. Without a search, returns a page of the whole list. */
export function listSearchPage<T extends ProjectTable>(
  call: Call,
  list: SearchedList<T>,
  { search, ...args }: PageArgs & FiltersOf<typeof searchFilters>,
  listAll: () => Promise<Page<Row<T>>>,
): Promise<Page<Row<T>>> {
  const text = search?.trim();
  return text ? listMatches(call, list, { ...args, search: text }) : listAll();
}

const TO_LOWER_CASE = sqlStatement<{ text: string }>(
  'select lower("text") as "text" from unnest($1::text[]) with ordinality as input("text", "position") order by "position"',
);

/** Converts texts to lower case in the database, as the stored words were converted. */
const toLowerCase: Batch<string, string> = async ({ database }, texts) => {
  const rows = await database.run(TO_LOWER_CASE, [[...texts]]);
  return rows.map(({ text }) => text);
};

/** Returns a page of matching rows, each once. */
async function listMatches<T extends ProjectTable>(
  call: Call,
  { name, parentId: projectId, table }: SearchedList<T>,
  { search, ...args }: PageArgs & { search: string },
): Promise<Page<Row<T>>> {
  const prefix = await load(call, toLowerCase, search);
  const matchList = { name: `${name} search`, parentId: projectId, table: 'SearchWord' } as const;
  if (call.viewer.kind === 'END_USER') {
    return listEndUserMatches(call, { ...matchList, searchedTable: table, prefix }, args);
  }
  const where = { projectId, kind: table, rowId: { firstFrom: prefix } };
  const wordOrder = { key: 'sortKey', order: 'oldest first' } as const;
  return listPage<'SearchWord', Row<T>>(
    call,
    {
      ...matchList,
      ...wordOrder,
      where,
      within: { above: prefix, below: prefix + LAST_CHARACTER },
      nodes: (rows) => Promise.all(rows.map(({ rowId }) => load(call, byId(table), rowId))),
    },
    args,
  );
}

interface EndUserSearch<T extends ProjectTable> {
  name: string;
  parentId: string;
  searchedTable: T;
  /** The first letters of the words, in lower case. */
  prefix: string;
}

/**
 * Searches the few rows that an end user may see. It reads only their words, so that neither the result nor its duration
 * reveals other rows.
 */
async function listEndUserMatches<T extends ProjectTable>(
  call: RowCall,
  { name, parentId: projectId, searchedTable: table, prefix }: EndUserSearch<T>,
  args: PageArgs,
): Promise<Page<Row<T>>> {
  const visibleRows = await listProjectRows(call, table, projectId);
  const rowsById = new Map(visibleRows.map((row) => [String(row['id' as keyof Row<T>]), row]));
  const rowIds = [...rowsById.keys()];
  const words = await call.database.reads.find('SearchWord', { projectId, rowId: rowIds });
  const firstSortKeys = new Map<string, string>();
  for (const { rowId, sortKey } of words) {
    const firstSortKey = firstSortKeys.get(rowId);
    const isFirst = firstSortKey === undefined || sortKey < firstSortKey;
    if (sortKey.startsWith(prefix) && isFirst) firstSortKeys.set(rowId, sortKey);
  }
  const matches = [...firstSortKeys].map(([rowId, sortKey]) => ({ rowId, sortKey }));
  matches.sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  const { edges, ...page } = createArrayPage(
    { name, parentId: projectId, key: ({ sortKey }) => sortKey },
    matches,
    args,
  );
  return {
    ...page,
    edges: edges.map(({ cursor, node }) => ({ cursor, node: rowsById.get(node.rowId) as Row<T> })),
  };
}
