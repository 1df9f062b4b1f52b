/** Fields that many types have. */
import type { FieldRef, InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';
import type { Page, PageArgs } from '../domain/page.ts';
import type { Row } from '../domain/scope.ts';
import { byId, type IdTable } from '../domain/scope.ts';
import type { Types } from './builder.ts';
import type { Context } from './context.ts';
import { Project } from './types.ts';

type FieldBuilder<Parent> = PothosSchemaTypes.FieldBuilder<Types, Parent, 'Object'>;

/** `id` and `createTime`. */
export function createdFields<P extends { id: string; createTime: Date }>(t: FieldBuilder<P>) {
  return {
    id: t.id({ description: 'The id.', resolve: ({ id }) => id }),
    createTime: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createTime }) => createTime,
    }),
  };
}

export function updateTimeField<P extends { updateTime: Date | null }>(t: FieldBuilder<P>) {
  return t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When it was last changed; null where it never was.',
    resolve: ({ updateTime }) => updateTime,
  });
}

export function projectField<P extends { projectId: string }>(t: FieldBuilder<P>) {
  return t.field({
    type: Project,
    description: 'The project that it belongs to.',
    resolve: ({ projectId }, _args, { get }) => get(byId('Project'), projectId),
  });
}

/** A relation that may be empty, or whose other end may be gone. */
export function linkField<P, T extends IdTable>(
  t: FieldBuilder<P>,
  link: {
    type: ObjectRef<Types, Row<T>>;
    table: T;
    id: (parent: P) => string | null;
    description: string;
  },
) {
  return t.field({
    type: link.type,
    nullable: true,
    description: link.description,
    resolve: (parent, _args, { find }) => {
      const id = link.id(parent);
      return (id === null ? null : find(byId(link.table), id)) as never;
    },
  });
}

/** A Relay list: the page arguments and the list's own filters go to one domain function. */
export function listField<P, N extends object, A extends InputFieldMap = Record<never, never>>(
  t: PothosSchemaTypes.RootFieldBuilder<Types, P>,
  [type, connection]: readonly [ObjectRef<Types, N>, unknown],
  options: {
    description: string;
    args?: A;
    resolve: (
      parent: P,
      args: InputShapeFromFields<A> & PageArgs,
      context: Context,
    ) => Promise<Page<N>> | Page<N>;
  },
): FieldRef<Types, unknown> {
  // A Page is lazy where Pothos' own shape of a connection is not; GraphQL resolves both alike.
  return t.connection({ type, ...options } as never, connection as never) as never;
}
