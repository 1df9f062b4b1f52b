import type { Row } from '../database/statements/tables.ts';

/** The group and the consumer of an operation, an event or a message. Erasing one of them erases the row. */
export type Subject = Pick<Row<'Connection'>, 'groupId' | 'consumerId'>;

/** Returns only the subject's columns of a row. */
export function pickSubject({ groupId, consumerId }: Subject): Subject {
  return { groupId, consumerId };
}
