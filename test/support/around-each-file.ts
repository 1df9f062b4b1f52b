/** Runs for each file, around its own hooks. */
import { afterAll } from 'vitest';
import { closeLeft, expectNoneOpen } from './open-apps.ts';

await closeLeft();
afterAll(expectNoneOpen);
