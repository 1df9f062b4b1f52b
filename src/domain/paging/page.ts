/** Relay pages: their arguments and their form. */
import { z } from 'zod';
import { type Issue, invalidInput } from '../../errors.ts';
import type { LinkTo } from '../scope.ts';
import { decodeCursor, type NamedList } from './list-cursor.ts';

/** The platform's pageSize limits. */
export const PAGE_DEFAULT = 200;
export const PAGE_MAX = 1000;
export interface PageArgs {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  /** Relations of the items to read with the page. They only save statements: the answer is the same without them. */
  links?: readonly LinkTo[];
}

/** The filters of a list as a surface gives them: one that is left out or null, if it may be, lets everything pass. */
export type FiltersOf<S extends z.ZodObject> = {
  [N in keyof z.output<S> as undefined extends z.output<S>[N] ? N : never]?: z.output<S>[N] | null;
} & { [N in keyof z.output<S> as undefined extends z.output<S>[N] ? never : N]: z.output<S>[N] };

export interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** Lazy members are read by the GraphQL fields of their names: once, and only if a query selects them. */
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

const sizeRule = { error: `must be a whole number from 1 to ${PAGE_MAX}.` };
export const pageSize = z.int(sizeRule).min(1, sizeRule).max(PAGE_MAX, sizeRule);

/** Throws BAD_USER_INPUT that names every cursor that is not of this list. Sizes must be validated. */
export function readPageArgs(args: PageArgs, list: NamedList) {
  const issues: Issue[] = [];
  const keyOf = (name: 'after' | 'before') => {
    const cursor = args[name];
    if (cursor == null) return undefined;
    const key = decodeCursor(list, cursor);
    if (key === null) {
      issues.push({ in: 'body', name, value: cursor, detail: 'is not a cursor of this list.' });
    }
    return key ?? undefined;
  };
  const after = keyOf('after');
  const before = keyOf('before');
  if (issues.length > 0) throw invalidInput(issues);
  return {
    size: args.first ?? args.last ?? PAGE_DEFAULT,
    backwards: args.last != null,
    after,
    before,
  };
}
