/** Follows recorded events, for peers that do not follow events themselves. */
import pg from 'pg';

const CHANNEL = 'gateway_events';
const NEW_EVENTS = `
  select id, position, "eventType", "createTime", data from "NotificationEvent"
  where "projectId" = $1 and position > $2 order by position limit 500`;

export interface EventRow {
  id: string;
  position: string;
  eventType: string;
  createTime: Date;
  data: unknown;
}

/** Calls `onEvent` once for each new event of any project, in order. */
export async function followEvents(
  databaseUrl: string,
  onEvent: (projectId: string, event: EventRow) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('select "projectId", "lastPosition" from "EventLog"');
  const lastPositions = new Map<string, string>(
    rows.map((row) => [row.projectId, row.lastPosition]),
  );
  let reading = Promise.resolve();
  const readNewEvents = async (projectId: string) => {
    const { rows: events } = await client.query<EventRow>({
      name: 'events',
      text: NEW_EVENTS,
      values: [projectId, lastPositions.get(projectId) ?? '0'],
    });
    for (const event of events) {
      lastPositions.set(projectId, event.position);
      onEvent(projectId, event);
    }
  };
  client.on('notification', ({ payload }) => {
    reading = reading.then(() => readNewEvents(payload ?? ''));
  });
  await client.query(`listen ${CHANNEL}`);
}
