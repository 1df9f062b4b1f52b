/** Shows events as lines of a log. */
import { Link } from 'wouter';
import { ClockTime } from '../parts/time.tsx';
import { getEventName } from './event-name.ts';
import type { TailEvent } from './use-tail.ts';

interface EventLinesProps {
  events: TailEvent[];
  linkTo: (path: string) => string;
}

export function EventLines({ events, linkTo }: EventLinesProps) {
  return (
    <ol className="lines aligned" aria-live="off">
      {events.map(({ id, eventType, createTime, group }) => (
        <li key={id}>
          <ClockTime value={createTime} />
          <Link href={linkTo(`events/${id}`)} className="strong">
            {getEventName(eventType)}
          </Link>
          <span className="quiet">{group?.groupName}</span>
        </li>
      ))}
    </ol>
  );
}
