import type { Row } from '../../database/rows.ts';
import type { EventData } from '../../events/event-types.ts';

type Connection = Row<'Connection'>;
type Consumer = Row<'Consumer'>;
type Group = Row<'Group'>;

/** What every event about a connection says of it. */
export function connectionFields(
  connection: Pick<Connection, 'id' | 'projectId' | 'provider'> & {
    group: Pick<Group, 'groupRef'>;
    consumer: Pick<Consumer, 'consumerRef' | 'consumerName'>;
  },
): EventData<'CONNECTION_CREATED'> {
  const { id: connectionId, projectId, provider, group, consumer } = connection;
  const { groupRef } = group;
  const { consumerRef, consumerName } = consumer;
  return { projectId, connectionId, provider, groupRef, consumerRef, consumerName };
}
