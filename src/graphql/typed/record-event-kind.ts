/** The kinds of changes in typed APIs. */
import { GraphQLEnumType } from 'graphql';

const KINDS = {
  READ: 'A read of the object found the record: it is new, or has changed since the last read.',
  CREATE: 'The provider reported a new record.',
  UPDATE: 'The provider reported a changed record.',
  DELETE: 'The provider reported a deleted record.',
  ASSOCIATION_UPDATE: 'The provider reported a changed association of the record.',
  OTHER: 'The provider reported another event.',
};

export const RecordEventKindType = new GraphQLEnumType({
  name: 'RecordEventKind',
  description: 'The way in which the gateway learned of a change.',
  values: Object.fromEntries(
    Object.entries(KINDS).map(([name, description]) => [name, { description }]),
  ),
});

/** Returns the kind for the type of a message's entry. Entries of reads have no type. */
export function toEventKind(type: string | undefined): string {
  if (type === undefined) return 'READ';
  const name = type.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return Object.hasOwn(KINDS, name) ? name : 'OTHER';
}
