import type { Row } from '../database/rows.ts';

/** Whom an operation, an event or a message is about: the rows that are erased with a group or a consumer. */
export type Subject = Pick<Row<'Connection'>, 'groupId' | 'consumerId'>;

/** What of a row says it. */
export function subjectOf({ groupId, consumerId }: Subject): Subject {
  return { groupId, consumerId };
}
