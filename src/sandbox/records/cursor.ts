import { Refusal } from '../refusal.ts';
import type { RecordTable } from './table.ts';

/** The position of a read, and the count of its first page. */
export interface Cursor {
  after: number;
  total: number;
}

export function cursorText({ epoch }: RecordTable, { after, total }: Cursor): string {
  return `${epoch}.${after}.${total}`;
}

/** Throws a Refusal: 400 for a damaged cursor, 410 for one of an earlier run of the server. */
export function parsedCursor({ epoch }: RecordTable, text: string): Cursor {
  const [, cursorEpoch, after, total] = /^([0-9a-f]{8})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (cursorEpoch === undefined) {
    const message = 'The cursor is damaged';
    throw new Refusal(400, { code: 'invalid_cursor', message, field: 'cursor' });
  }
  if (cursorEpoch !== epoch) {
    const message = 'The cursor is gone: start from the first page';
    throw new Refusal(410, { code: 'cursor_gone', message, field: 'cursor' });
  }
  return { after: Number(after), total: Number(total) };
}
