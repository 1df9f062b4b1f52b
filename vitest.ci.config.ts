import { defineConfig } from 'vitest/config';
import { all } from './vitest.all.config.ts';
import { run } from './vitest.config.ts';
import { throughPooler } from './vitest.pooler.config.ts';

/** What test:all and test:pooler run, in one go: no worker waits for the end of another's part. */
export default defineConfig({ test: { ...run, projects: [...all, ...throughPooler] } });
