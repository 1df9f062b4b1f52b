import { enumType } from '../schema/inputs.ts';

export const WriteType = enumType(
  'WriteType',
  'Whether a write creates, updates or deletes records.',
  {
    CREATE: 'Creates new records.',
    UPDATE: 'Updates the records with the given ids.',
    DELETE: 'Deletes the record with the given id.',
  },
);
