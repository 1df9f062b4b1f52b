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
      template: string;
      /** Where PgBouncer is before it, with TEST_DATABASE_POOLER. */
      poolerUrl: string | null;
    };
  }
}

export default async function setup(project: TestProject) {
  process.env.TEST_SNAPSHOT = await embeddedSnapshot();
  if (project.config.env.TEST_DATABASE !== 'postgres') return;
  const { startTemplate } = await import('./database/postgres-template.ts');
  const { stop, port, ...postgres } = await startTemplate();
  const pooler =
    project.config.env.TEST_DATABASE_POOLER === 'pgbouncer' ? await poolerOf(port) : null;
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
