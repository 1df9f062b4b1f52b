/**
 * Marks the statements of tests, which may read rows without naming a project. The check of the product's
 * statements skips them.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import pg from 'pg';
import type { App } from '../../../src/app.ts';
import type { Database } from '../../../src/database/open/database.ts';
import type { ReadLayer } from '../../../src/database/statements/reads/read-layer.ts';
import type { RunStatement } from '../../../src/database/statements/statements.ts';
import { Releasable } from './releasable.ts';

const testContext = new AsyncLocalStorage<true>();

/** Runs work whose statements count as the test's. */
export function runAsTest<T>(work: () => T): T {
  return testContext.run(true, work);
}

export function isTestStatement(): boolean {
  return testContext.getStore() === true;
}

// Releasing a connection calls the next caller that waits for one. Its statements belong to that caller.
const { prototype } = pg.Pool as unknown as {
  prototype: { connect(onConnect?: (...args: unknown[]) => void): unknown };
};
const { connect } = prototype;
prototype.connect = function (onConnect) {
  return connect.call(this, onConnect && AsyncResource.bind(onConnect));
};

/** Returns the app with a database whose statements count as the test's. */
export function asTestApp(app: App, releasable = new Releasable()): App {
  const { services } = app;
  const database = asTestDatabase(services.database, releasable);
  const testServices = releasable.wrap(services, {
    get: (target, name) => (name === 'database' ? database : Reflect.get(target, name)),
  });
  return releasable.wrap(app, {
    get: (target, name) => (name === 'services' ? testServices : Reflect.get(target, name)),
  });
}

/** Returns the database so that its statements count as the test's. */
export function asTestDatabase(database: Database, releasable = new Releasable()): Database {
  const extended = database.prisma.$extends({
    query: {
      $allOperations: ({ args, query }) => testContext.run(true, async () => await query(args)),
    },
  });
  const prisma = releasable.wrapBound(extended);
  const reads = releasable.wrap(database.reads, {
    get(target, name) {
      const read = target[name as keyof ReadLayer] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => testContext.run(true, () => read(...args));
    },
  });
  const run: RunStatement = (statement, input) =>
    testContext.run(true, () => database.run(statement, input));
  const members = { prisma, reads, run };
  return releasable.wrap(database, {
    get: (target, name) => Reflect.get(name in members ? members : target, name),
  });
}
