/**
 * Tests look at rows by themselves, and need not say whose they are: what they send is told apart from what the product
 * sends.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import pg from 'pg';
import type { App } from '../../../src/app.ts';
import type { Database } from '../../../src/database/database.ts';
import type { Rows } from '../../../src/database/rows.ts';

const own = new AsyncLocalStorage<true>();

export function isTestsOwn(): boolean {
  return own.getStore() === true;
}

// Who gives a connection back calls whoever waits for one: what that sends is still its own.
const { prototype } = pg.Pool as unknown as {
  prototype: { connect(onConnect?: (...args: unknown[]) => void): unknown };
};
const { connect } = prototype;
prototype.connect = function (onConnect) {
  return connect.call(this, onConnect && AsyncResource.bind(onConnect));
};

/** The app as tests hold it: what they send by its services is theirs. */
export function heldByTests(app: App): App {
  const { services } = app;
  const database = ofTests(services.database);
  const held = new Proxy(services, {
    get: (target, name) => (name === 'database' ? database : Reflect.get(target, name)),
  });
  return new Proxy(app, {
    get: (target, name) => (name === 'services' ? held : Reflect.get(target, name)),
  });
}

/** The same of a database by itself. */
export function ofTests(database: Database): Database {
  const prisma = database.prisma.$extends({
    query: { $allOperations: ({ args, query }) => own.run(true, async () => await query(args)) },
  });
  const rows = new Proxy(database.rows, {
    get(target, name) {
      const read = target[name as keyof Rows] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => own.run(true, () => read(...args));
    },
  });
  return new Proxy(database, {
    get(target, name) {
      if (name === 'prisma') return prisma;
      return name === 'rows' ? rows : Reflect.get(target, name);
    },
  });
}
