/** The arguments and types of Relay pages. */
import { z } from 'zod';
import { type Issue, invalidInput } from '../../../kernel/errors.ts';
import type { LinkTo } from '../scope.ts';
import { decodeCursor, type NamedList } from './list-cursor.ts';

/** The default size of a page. It is small, because a nested list multiplies the cost of the lists around it. */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 1000;

export interface PageArgs {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  /** Relations of the items to read in the same statement. They do not change the result. */
  links?: readonly LinkTo[];
}

/** The filters of a list as a surface receives them. An optional filter that is absent or null matches every item. */
export type FiltersOf<S extends z.ZodObject> = {
  [N in keyof z.output<S> as undefined extends z.output<S>[N] ? N : never]?: z.output<S>[N] | null;
} & { [N in keyof z.output<S> as undefined extends z.output<S>[N] ? never : N]: z.output<S>[N] };

export interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** `pageInfo` and `totalCount` may query the database, so GraphQL reads them only if a query selects them. */
export interface Page<T> {
  edges: Edge<T>[];
  pageInfo: {
    readonly hasNextPage: boolean | Promise<boolean>;
    readonly hasPreviousPage: boolean | Promise<boolean>;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  totalCount: () => number | Promise<number>;
}

const SIZE_RULE = { error: `must be a whole number from 1 to ${PAGE_MAX}.` };
export const pageSize = z.int(SIZE_RULE).min(1, SIZE_RULE).max(PAGE_MAX, SIZE_RULE);

/**
 * Decodes the arguments of a page. The caller has checked the sizes. Throws BAD_USER_INPUT that names each argument that
 * is not a cursor of this list.
 */
export function readPageArgs(args: PageArgs, list: NamedList) {
  const issues: Issue[] = [];
  const decodeKey = (name: 'after' | 'before') => {
    const cursor = args[name];
    if (cursor == null) return undefined;
    const key = decodeCursor(list, cursor);
    if (key === null) {
      issues.push({ path: [name], value: cursor, detail: 'is not a cursor of this list.' });
    }
    return key ?? undefined;
  };
  const after = decodeKey('after');
  const before = decodeKey('before');
  if (issues.length > 0) throw invalidInput(issues);
  return {
    size: args.first ?? args.last ?? PAGE_DEFAULT,
    isBackward: args.last != null,
    after,
    before,
  };
}
