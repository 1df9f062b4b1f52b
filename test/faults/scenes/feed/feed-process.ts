/** Server process that is killed while clients follow it. */
import { createApp } from '../../../../src/app.ts';
import { readConfig } from '../../../../src/config.ts';
import { createLog } from '../../../../src/log.ts';

const app = await createApp(readConfig(process.env), { log: createLog('silent') });
const { url } = await app.start();
process.send?.(url);
