/** A live list of the project's events. */
import { useState } from 'react';
import { Link } from 'wouter';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import { Filter, TimeFilter, useFilter, useProjectLink, useTimeRange } from '../parts/filters.tsx';
import { Refusal } from '../parts/form.tsx';
import { LiveControl } from '../parts/live-control.tsx';
import { Older } from '../parts/older.tsx';
import { Empty, ListPage, Loading } from '../parts/page.tsx';
import { LAST_COUNT } from '../parts/use-live.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { EventLines } from './event-lines.tsx';
import { getEventName } from './event-name.ts';
import { TAIL_QUERY, useTail } from './use-tail.ts';

export default function EventsPage({ project }: ConsolePageProps) {
  const type = useFilter('type', EVENT_TYPES);
  const createTime = useTimeRange();
  const [isPaused, setPaused] = useState(false);
  const filter = { project, eventTypes: type ? [type] : null, createTime };
  const tail = useTail(filter, isPaused);
  const linkTo = useProjectLink(project);
  const hasEnded = createTime?.until != null;
  return (
    <ListPage
      title="Events"
      description="Events of the project, newest first. Only events that are routed to a topic are recorded."
      actions={!hasEnded && <LiveControl noun="events" isPaused={isPaused} onChange={setPaused} />}
      query={TAIL_QUERY}
      variables={{ ...filter, last: LAST_COUNT }}
      filters={
        <>
          <Filter name="type" label="Type" values={EVENT_TYPES} formatValue={getEventName} />
          <TimeFilter />
        </>
      }
    >
      <Refusal problem={tail.problem} />
      {!tail.isLoaded && <Loading />}
      {tail.isLoaded && tail.items.length === 0 && !tail.problem && (
        <NoEvents isFiltered={type !== null || createTime !== null} linkTo={linkTo} />
      )}
      <EventLines events={tail.items} linkTo={linkTo} />
      <Older live={tail} />
    </ListPage>
  );
}

interface NoEventsProps {
  isFiltered: boolean;
  linkTo: (path: string) => string;
}

function NoEvents({ isFiltered, linkTo }: NoEventsProps) {
  if (isFiltered) return <Empty title="No events of this type in this period" />;
  return (
    <Empty title="No events yet">
      <Link href={linkTo('routes')}>Route an event type to a topic</Link>, then connect an account
      or trigger a read.
    </Empty>
  );
}
