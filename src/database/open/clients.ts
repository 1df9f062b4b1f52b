/** The ways to reach rows, over the same sessions: Prisma, the read layer, and statements. */
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { createQuery, createStatementNamer } from '../connect/run-query.ts';
import type { Pooler } from '../connect/sessions/database-session.ts';
import { createReadBursts, type ServerRouting } from '../connect/sessions/read-bursts.ts';
import { PrismaClient } from '../generated/client.ts';
import { createRunShared, type RunShared } from '../statements/hot/shared-statements.ts';
import { createReadLayer, type ReadLayer } from '../statements/reads/read-layer.ts';
import { createRunStatement, type RunStatement } from '../statements/statements.ts';
import {
  NotificationSender,
  type Notify,
  type SendNotifications,
} from '../transactions/notifications.ts';
import { TRANSACTION_OPTIONS } from '../transactions/transaction.ts';

interface Clients extends AsyncDisposable {
  prisma: PrismaClient;
  reads: ReadLayer;
  run: RunStatement;
  runShared: RunShared;
  notify: Notify;
}

interface ClientsOptions {
  pooler?: Pooler | undefined;
  servers?: ServerRouting | undefined;
  sendNotifications: SendNotifications;
}

/** The pool's clients must be created with `pipeline`, and read columns by COLUMN_TYPES. */
export function createClients(
  pool: pg.Pool,
  { pooler, servers, sendNotifications }: ClientsOptions,
): Clients {
  const nameStatement = createStatementNamer(pooler);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, {
      statementNameGenerator: ({ sql }) => nameStatement(sql) as string,
    }),
    transactionOptions: TRANSACTION_OPTIONS,
  });
  const query = createQuery(pool, nameStatement);
  const bursts = createReadBursts(pool, nameStatement, servers);
  const notifications = new NotificationSender(sendNotifications);
  return {
    prisma,
    reads: createReadLayer(query, { short: bursts.query, shared: bursts.queryShared }),
    run: createRunStatement(query, bursts.query),
    runShared: createRunShared(query, notifications.notify, {
      isDistributed: servers !== undefined,
    }),
    notify: notifications.notify,
    async [Symbol.asyncDispose]() {
      await notifications[Symbol.asyncDispose]();
      await prisma.$disconnect();
    },
  };
}
