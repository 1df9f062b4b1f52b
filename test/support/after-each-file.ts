/** Runs for each file, around its own hooks. */
import { afterAll } from 'vitest';
import { expectNoneOpen } from './open-apps.ts';

afterAll(expectNoneOpen);
