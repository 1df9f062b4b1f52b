/**
 * Once for a run: a migrated snapshot for the embedded database, and a PostgreSQL server with a template. What only
 * the making of them needs is loaded for that alone: this is what every run waits for, also that of one file.
 */
import type { TestProject } from 'vitest/node';
import { embeddedSnapshot } from './database/embedded/embedded-snapshot.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: {
      serverUrl: string;
      /** The other servers that have a part of each database: with TEST_CITUS_URL. */
      workerUrls: string[];
      template: string;
      /** Where PgBouncer is before it, with TEST_DATABASE_POOLER. */
      poolerUrl: string | null;
    };
  }
}

export default async function setup(project: TestProject) {
  process.env.TEST_SNAPSHOT = await embeddedSnapshot();
  const { TEST_DATABASE, TEST_DATABASE_POOLER, TEST_CITUS_URL } = project.config.env;
  if (TEST_DATABASE === 'embedded') return;
  const { stop, port, ...postgres } = await (TEST_CITUS_URL
    ? (await import('./database/cluster-template.ts')).openCluster(TEST_CITUS_URL)
    : (await import('./database/postgres-template.ts')).startTemplate());
  const pooler = TEST_DATABASE_POOLER === 'pgbouncer' ? await poolerOf(port) : null;
  project.provide('postgres', { ...postgres, poolerUrl: pooler?.url ?? null });
  return async () => {
    await pooler?.stop();
    await stop();
  };
}

async function poolerOf(port: number) {
  const { startPgbouncer } = await import('./database/pgbouncer.ts');
  return startPgbouncer(port);
}
