/**
 * Process that runs the statements of its parent's messages on a database, and responds when each is done.
 */
import { readConfig } from '../../../../src/config.ts';
import { openDatabase } from '../../../../src/database/database.ts';
import { createLog } from '../../../../src/log.ts';

const database = await openDatabase(readConfig(process.env), createLog('info'));
process.on('message', async (text: string) => {
  const response = await database.rows.query(text, []).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  process.send?.(response);
});
process.send?.('open');
