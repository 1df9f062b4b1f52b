/** Rows that the product makes by itself, put in place by hand: each takes what a test cares about. */
import type { Prisma } from '../../../src/database/generated/client.ts';
import { newId } from '../../../src/ids.ts';
import type { TestApp } from '../app.ts';

type Given<T> = Partial<T> & { projectId: string };

export function insertRows({ app }: Pick<TestApp, 'app'>) {
  const { prisma } = app.services.database;
  return {
    operation: (given: Given<Prisma.OperationUncheckedCreateInput>) =>
      prisma.operation.create({ data: operationRow(given) }),
    operations: (rows: Given<Prisma.OperationUncheckedCreateInput>[]) =>
      prisma.operation.createMany({ data: rows.map(operationRow) }),
    operationLog: (
      given: Given<Prisma.OperationLogUncheckedCreateInput> & { operationId: string },
    ) =>
      prisma.operationLog.create({
        data: { id: newId('log'), severity: 'INFO', message: 'Read a page.', ...given },
      }),
    /** An event at the end of the project's log, in these topics. */
    async event({
      topicIds = [],
      ...given
    }: Given<Prisma.NotificationEventUncheckedCreateInput> & {
      topicIds?: string[];
    }) {
      const { projectId, eventType = 'CONNECTION_CREATED' } = given;
      const { lastPosition: position } = await prisma.eventLog.update({
        where: { projectId },
        data: { lastPosition: { increment: 1 } },
      });
      const id = newId('evt');
      const data = { id, position, data: { projectId }, ...given, eventType, topics: undefined };
      const event = await prisma.notificationEvent.create({ data });
      await prisma.notificationEventTopic.createMany({
        data: topicIds.map((topicId) => ({ eventId: id, topicId, projectId, position, eventType })),
      });
      return event;
    },
    delivery: (given: Given<Prisma.DeliveryUncheckedCreateInput>) =>
      prisma.delivery.create({
        data: {
          id: newId('dlv'),
          destinationId: newId('dst'),
          body: '{}',
          nextAttemptTime: null,
          ...given,
        },
      }),
    attempt: (
      given: Given<Prisma.DeliveryAttemptUncheckedCreateInput> & {
        deliveryId: string;
        attemptNumber: number;
      },
    ) => prisma.deliveryAttempt.create({ data: { id: newId('att'), durationMs: 12, ...given } }),
  };
}

function operationRow(
  given: Given<Prisma.OperationUncheckedCreateInput>,
): Prisma.OperationUncheckedCreateInput {
  return {
    id: newId('opr'),
    integrationId: newId('int'),
    installationId: newId('ins'),
    configId: newId('cfg'),
    actionType: 'READ',
    status: 'SUCCESS',
    metadata: { objects: ['contact'] },
    ...given,
  };
}
