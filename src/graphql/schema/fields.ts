/** Fields that many types share. */
import type { InterfaceRef, ObjectRef } from '@pothos/core';
import type { Read } from '../../domain/access/declared-read.ts';
import {
  byId,
  type LinkTo,
  type PageRow,
  type ProjectTable,
  type Row,
} from '../../domain/access/scope.ts';
import { describeNeed, findScope } from '../../domain/access/viewer/needs.ts';
import type { Types } from './schema-builder.ts';
import { Project } from './types.ts';

/** A declared function, as far as a field shows it. */
export type FieldDeclaration = Pick<
  Read<never, unknown>,
  'needs' | 'description' | 'providerCalls'
>;

/**
 * Returns the options of a field that calls a declared function. `description` replaces the declaration's description. The
 * plugin of resolver-plugin.ts checks `extensions.needs`, and query-limits.ts counts `extensions.providerCalls`.
 */
export function describeField(
  declaration: FieldDeclaration,
  description = declaration.description,
) {
  const { needs, providerCalls } = declaration;
  return {
    description: `${description} ${describeNeed(needs)}`,
    extensions: { needs, ...(providerCalls && { providerCalls }) },
  };
}

/**
 * True if a field of the type needs another scope than the type's other fields: `org:read` in an org, and otherwise
 * `read`. Such a field is nullable (docs/api-policy.md).
 */
export function needsOwnScope(
  typeName: string,
  { needs }: Pick<FieldDeclaration, 'needs'>,
): boolean {
  const scope = findScope(needs);
  return scope !== null && scope !== (typeName === 'Org' ? 'org:read' : 'read');
}

/** Builds fields of object types and of interfaces. */
type FieldBuilder<Parent> = Omit<
  PothosSchemaTypes.FieldBuilder<Types, Parent, 'Object'>,
  'kind' | 'graphqlKind'
>;

export function projectField<P extends { projectId: string }>(t: FieldBuilder<P>) {
  return t.field({
    type: Project,
    description: 'The project that it belongs to.',
    resolve: ({ projectId }, _args, { get }) => get(byId('Project'), projectId),
  });
}

interface LinkOptions<T extends ProjectTable, C> {
  type: ObjectRef<Types, Row<T>> | InterfaceRef<Types, Row<T>>;
  table: T;
  /** The parent's column with the id. */
  column: C;
  description: string;
}

/** The parent's columns with ids. */
type IdColumn<P, V> = { [K in keyof P & string]: P[K] extends V ? K : never }[keyof P & string];

/** Defines a relation that may be null, because its column is null or its object was deleted. */
export function linkField<P, T extends ProjectTable>(
  t: FieldBuilder<P>,
  { type, table, column, description }: LinkOptions<T, IdColumn<P, string | null>>,
) {
  return t.field({
    type,
    nullable: true,
    description,
    extensions: { link: { table, column } satisfies LinkTo },
    resolve: (parent, _args, { find }) => {
      const id = parent[column] as string | null;
      return (
        id === null ? null : (findLinkedRow(parent, column) ?? find(byId(table), id))
      ) as never;
    },
  });
}

/** Defines a relation that is never null. */
export function requiredLinkField<P, T extends ProjectTable>(
  t: FieldBuilder<P>,
  { type, table, column, description }: LinkOptions<T, IdColumn<P, string>>,
) {
  return t.field({
    type,
    description,
    extensions: { link: { table, column } satisfies LinkTo },
    resolve: (parent, _args, { get }) =>
      (findLinkedRow(parent, column) ?? get(byId(table), parent[column] as string)) as never,
  });
}

/** Returns the relation that was read with the parent's page. Undefined if the page was read without it. */
function findLinkedRow(parent: unknown, column: string): object | null | undefined {
  return (parent as PageRow).linked?.[column];
}
