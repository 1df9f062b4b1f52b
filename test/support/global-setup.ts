/**
 * Runs once for each project: builds a missing or outdated console, which workers would otherwise all build, creates a
 * migrated snapshot for the embedded database, and starts a PostgreSQL server with a template, which the projects of a run
 * share. Modules that only the creation needs are loaded on demand, because even a run of one file waits for this.
 */
import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../src/server/console/console-build.ts';
import { ensureEmbeddedSnapshot } from './database/embedded/embedded-snapshot.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: {
      serverUrl: string;
      /** The worker nodes of a cluster. Empty for one server. */
      workerUrls: string[];
      template: string;
      /** URL of PgBouncer if `TEST_DATABASE_POOLER` is set. */
      poolerUrl: string | null;
    };
  }
}

export default async function setup(project: TestProject) {
  await buildIfStale({ info: () => {}, error: console.error });
  process.env.TEST_SNAPSHOT = await ensureEmbeddedSnapshot();
  const { TEST_DATABASE, TEST_DATABASE_POOLER } = project.config.env;
  if (TEST_DATABASE === 'embedded') return;
  const { stop, port, ...postgres } = await (TEST_DATABASE === 'citus'
    ? (await import('./database/cluster/cluster-template.ts')).createClusterTemplate()
    : (await import('./database/postgres-template.ts')).shareTemplate());
  const pooler = TEST_DATABASE_POOLER === 'pgbouncer' ? await startPooler(port) : null;
  project.provide('postgres', { ...postgres, poolerUrl: pooler?.url ?? null });
  return async () => {
    await pooler?.stop();
    await stop();
  };
}

async function startPooler(port: number) {
  const { startPgbouncer } = await import('./database/pgbouncer.ts');
  return startPgbouncer(port);
}
