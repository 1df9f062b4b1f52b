/** Setup file of vitest: runs around each test file's own hooks, and fails a file that leaves an app open. */
import { afterAll } from 'vitest';
import { closeOpenApps, expectNoOpenApps } from './open-apps.ts';

await closeOpenApps();
afterAll(expectNoOpenApps);
