/** Inserts rows that the product itself creates over time. Tests name only the columns that matter. */
import type { Prisma } from '../../../src/database/generated/client.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { TestApp } from '../app.ts';

type RowValues<T> = Partial<T> & { projectId: string };

export function insertRows({ app }: Pick<TestApp, 'app'>) {
  const { prisma } = app.services.database;
  return {
    operation: (values: RowValues<Prisma.OperationUncheckedCreateInput>) =>
      prisma.operation.create({ data: createOperationRow(values) }),
    operations: (rows: RowValues<Prisma.OperationUncheckedCreateInput>[]) =>
      prisma.operation.createMany({ data: rows.map(createOperationRow) }),
    operationLog: (
      values: RowValues<Prisma.OperationLogUncheckedCreateInput> & { operationId: string },
    ) =>
      prisma.operationLog.create({
        data: { id: newId('log'), severity: 'INFO', message: 'Read a page.', ...values },
      }),
    /** Appends an event to the project's log, and routes it to the topics. */
    async event({
      topicIds = [],
      ...values
    }: RowValues<Prisma.NotificationEventUncheckedCreateInput> & {
      topicIds?: string[];
    }) {
      const { projectId, eventType = 'CONNECTION_CREATED' } = values;
      const { lastPosition: position } = await prisma.eventLog.update({
        where: { projectId },
        data: { lastPosition: { increment: 1 } },
      });
      const id = newId('evt');
      const data = { id, position, data: { projectId }, ...values, eventType, topics: undefined };
      const event = await prisma.notificationEvent.create({ data });
      await prisma.notificationEventTopic.createMany({
        data: topicIds.map((topicId) => ({ eventId: id, topicId, projectId, position, eventType })),
      });
      return event;
    },
    delivery: (values: RowValues<Prisma.DeliveryUncheckedCreateInput>) =>
      prisma.delivery.create({
        data: {
          id: newId('dlv'),
          destinationId: newId('dst'),
          body: '{}',
          nextAttemptTime: null,
          ...values,
        },
      }),
    attempt: (
      values: RowValues<Prisma.DeliveryAttemptUncheckedCreateInput> & {
        deliveryId: string;
        attemptNumber: number;
      },
    ) => prisma.deliveryAttempt.create({ data: { id: newId('att'), durationMs: 12, ...values } }),
  };
}

function createOperationRow(
  values: RowValues<Prisma.OperationUncheckedCreateInput>,
): Prisma.OperationUncheckedCreateInput {
  return {
    id: newId('opr'),
    integrationId: newId('int'),
    installationId: newId('ins'),
    configId: newId('cfg'),
    actionType: 'READ',
    status: 'SUCCESS',
    metadata: { objects: ['contact'] },
    ...values,
  };
}
