/** The routes as a picture: types of events on the left, topics in the middle, destinations on the right. */
import { Link } from 'wouter';
import { useAddress } from '../parts/filters.tsx';
import { Empty } from '../parts/page.tsx';
import { wordsOf } from '../parts/status.tsx';
import type { RoutedProject } from './routes-page.tsx';

const ROW_PX = 40;
const WIDTH_PX_MAX = 10;

interface Line {
  from: number;
  to: number;
  /** How many of the last events went over it. */
  flow: number;
  name: string;
}

interface RoutesPictureProps {
  project: string;
  routed: RoutedProject;
}

export function RoutesPicture({ project, routed }: RoutesPictureProps) {
  const address = useAddress(project);
  const { topics, destinations, eventTopicRoutes, topicDestinationRoutes } = routed;
  const types = [...new Set(eventTopicRoutes.nodes.map(({ eventType }) => eventType))].toSorted();
  if (topics.nodes.length === 0) {
    return <Empty title="No topic yet">Make a topic, and lead a type of event to it.</Empty>;
  }
  const indexOf = (list: readonly { id: string }[], id: string) =>
    list.findIndex((one) => one.id === id);
  const toTopics = eventTopicRoutes.nodes.map(({ eventType, topic }) => ({
    from: types.indexOf(eventType),
    to: indexOf(topics.nodes, topic.id),
    flow: flowOf(routed, (event) => event.eventType === eventType && leadsTo(event, topic.id)),
    name: `${wordsOf(eventType)} to ${topic.name}`,
  }));
  const toDestinations = topicDestinationRoutes.nodes.map(({ topic, destination }) => ({
    from: indexOf(topics.nodes, topic.id),
    to: indexOf(destinations.nodes, destination.id),
    flow: flowOf(routed, (event) => leadsTo(event, topic.id)),
    name: `${topic.name} to ${destination.name}`,
  }));
  const rows = Math.max(types.length, topics.nodes.length, destinations.nodes.length);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="scrolls" tabIndex={0} aria-label="Picture of the routes">
      <div className="picture">
        <Column name="Events">
          {types.map((type) => (
            <Link key={type} href={address(`events?type=${type}`)} className="node">
              {wordsOf(type)}
            </Link>
          ))}
        </Column>
        <Lines lines={toTopics} rows={rows} />
        <Column name="Topics">
          {topics.nodes.map(({ id, name }) => (
            <span key={id} className="node strong">
              {name}
            </span>
          ))}
        </Column>
        <Lines lines={toDestinations} rows={rows} />
        <Column name="Destinations">
          {destinations.nodes.map(({ id, name, status }) => (
            <Link key={id} href={address(`destinations/${id}`)} className={`node ${status}`}>
              {name}
              {status === 'DISABLED' && ' (disabled)'}
            </Link>
          ))}
        </Column>
      </div>
    </section>
  );
}

type RecentEvent = RoutedProject['notificationEvents']['nodes'][number];

const leadsTo = (event: RecentEvent, topicId: string) =>
  event.topics.some(({ id }) => id === topicId);

function flowOf({ notificationEvents }: RoutedProject, goes: (event: RecentEvent) => boolean) {
  return notificationEvents.nodes.filter(goes).length;
}

function Column({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="column">
      <h2 className="quiet">{name}</h2>
      {children}
    </div>
  );
}

function Lines({ lines, rows }: { lines: Line[]; rows: number }) {
  const most = Math.max(1, ...lines.map(({ flow }) => flow));
  const middle = (index: number) => index * ROW_PX + ROW_PX / 2;
  return (
    <svg
      className="links"
      viewBox={`0 0 100 ${rows * ROW_PX}`}
      height={rows * ROW_PX}
      preserveAspectRatio="none"
      role="img"
      aria-label={lines.map(({ name, flow }) => `${name}: ${flow}`).join(', ') || 'No routes'}
    >
      {lines
        .filter(({ from, to }) => from >= 0 && to >= 0)
        .map(({ from, to, flow, name }) => (
          <path
            key={name}
            d={`M0 ${middle(from)} C 50 ${middle(from)}, 50 ${middle(to)}, 100 ${middle(to)}`}
            strokeWidth={1.5 + (flow / most) * WIDTH_PX_MAX}
            className={flow > 0 ? 'flows' : ''}
          >
            <title>{`${name}: ${flow} of the last 100 events`}</title>
          </path>
        ))}
    </svg>
  );
}
