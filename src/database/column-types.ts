/** How values of columns are read, wherever Prisma doesn't read them: exact, and as Prisma gives them too. */
import pg from 'pg';
import { timestampOf } from './timestamps.ts';

const readTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (
  text: string,
) => Date;

export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ) {
      return (text: string) => timestampOf(text) ?? readTimestamp(text);
    }
    return pg.types.getTypeParser(oid, format);
  },
};
