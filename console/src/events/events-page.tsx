/** A live tail of the project's events. */
import { useState } from 'react';
import { Link } from 'wouter';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import { Filter, useAddress, useFilter } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Empty, Loading, Page } from '../parts/page.tsx';
import type { PageProps } from '../shell/places.ts';
import { EventLines } from './event-lines.tsx';
import { TAIL_QUERY, useTail } from './use-tail.ts';

export default function EventsPage({ project }: PageProps) {
  const [type, setType] = useFilter('type', EVENT_TYPES);
  const [isPaused, setPaused] = useState(false);
  const filter = { project, eventTypes: type ? [type] : null, topicId: null };
  const { items: events, isLoaded, problem } = useTail(filter, isPaused);
  const address = useAddress(project);
  return (
    <Page
      title="Events"
      about="What happens in the project, newest first. Events that no route leads to a topic are not recorded."
      actions={<Action onPress={() => setPaused(!isPaused)}>{isPaused ? 'Go on' : 'Pause'}</Action>}
      query={TAIL_QUERY}
      variables={{ ...filter, last: 50 }}
    >
      <div className="filters">
        <Filter label="Type" values={EVENT_TYPES} value={type} onChange={setType} />
        <p className="quiet">{isPaused ? 'Paused. No event is missed.' : 'Live'}</p>
      </div>
      <Refusal problem={problem} />
      <section className="card">
        {!isLoaded && <Loading />}
        {isLoaded && events.length === 0 && !problem && (
          <Empty title="No event yet">
            <Link href={address('routes')}>Lead a type of event to a topic</Link>, then change a
            connection or read something.
          </Empty>
        )}
        <EventLines events={events} address={address} />
      </section>
    </Page>
  );
}
