/** A diagram of the routes: event types on the left, topics in the middle, destinations on the right. */
import { ToggleButton } from 'react-aria-components';
import { getEventName } from '../events/event-name.ts';
import { Empty } from '../parts/page.tsx';
import { hasEnd, isSameEnd, listRoutes, type RouteEnd } from './route-ends.ts';
import type { RoutedProject } from './routes-page.tsx';

const ROW_PX = 40;
const WIDTH_PX_MAX = 10;

interface Line {
  id: string;
  from: number;
  to: number;
  /** The number of recent events that took this route. */
  flow: number;
  name: string;
  isDim: boolean;
}

interface PictureNode extends RouteEnd {
  name: string;
  /** Shown by its style. */
  style?: string;
}

interface RoutesPictureProps {
  routed: RoutedProject;
  selection: RouteEnd | null;
  /** Null clears the selection. */
  onSelect: (selection: RouteEnd | null) => void;
}

export function RoutesPicture({ routed, selection, onSelect }: RoutesPictureProps) {
  const [events, topics, destinations] = createColumns(routed);
  if (topics.length === 0) {
    return <Empty title="No topics yet">Create a topic, and route an event type to it.</Empty>;
  }
  const createLinesBetween = (from: PictureNode[], to: PictureNode[]) =>
    createLines(routed, { from, to, selection });
  const rows = Math.max(events.length, topics.length, destinations.length);
  const column = { selection, onSelect };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="scrolls" tabIndex={0} aria-label="Picture of the routes">
      <div className="picture">
        <Column name="Events" nodes={events} {...column} />
        <FlowLines lines={createLinesBetween(events, topics)} rows={rows} />
        <Column name="Topics" nodes={topics} {...column} />
        <FlowLines lines={createLinesBetween(topics, destinations)} rows={rows} />
        <Column name="Destinations" nodes={destinations} {...column} />
      </div>
    </section>
  );
}

function createColumns({ topics, destinations, eventTopicRoutes }: RoutedProject) {
  const types = [...new Set(eventTopicRoutes.nodes.map(({ eventType }) => eventType))].toSorted();
  const events = types.map((id): PictureNode => ({ kind: 'event', id, name: getEventName(id) }));
  const topicNodes = topics.nodes.map(
    ({ id, name }): PictureNode => ({ kind: 'topic', id, name, style: 'strong' }),
  );
  const destinationNodes = destinations.nodes.map(({ id, name, status }): PictureNode => {
    const isDisabled = status === 'DISABLED';
    return { kind: 'destination', id, name: isDisabled ? `${name} (disabled)` : name };
  });
  return [events, topicNodes, destinationNodes] as const;
}

interface LinesInput {
  from: PictureNode[];
  to: PictureNode[];
  selection: RouteEnd | null;
}

function createLines(routed: RoutedProject, { from, to, selection }: LinesInput): Line[] {
  const findIndex = (nodes: PictureNode[], end: RouteEnd) =>
    nodes.findIndex((node) => isSameEnd(node, end));
  return listRoutes(routed).flatMap((route) => {
    const [fromIndex, toIndex] = [findIndex(from, route.from), findIndex(to, route.to)];
    const [fromNode, toNode] = [from[fromIndex], to[toIndex]];
    if (!fromNode || !toNode) return [];
    return {
      id: route.id,
      from: fromIndex,
      to: toIndex,
      flow: countFlow(routed, route.from, route.to),
      name: `${fromNode.name} to ${toNode.name}`,
      isDim: !hasEnd(route, selection),
    };
  });
}

/**
 * Counts events on the line from an event type to a topic. A topic sends all of its events to each of its
 * destinations.
 */
function countFlow({ notificationEvents }: RoutedProject, from: RouteEnd, to: RouteEnd): number {
  const topicId = from.kind === 'topic' ? from.id : to.id;
  return notificationEvents.nodes.filter(
    ({ eventType, topics }) =>
      (from.kind === 'topic' || eventType === from.id) && topics.some(({ id }) => id === topicId),
  ).length;
}

interface ColumnProps extends Pick<RoutesPictureProps, 'selection' | 'onSelect'> {
  name: string;
  nodes: readonly PictureNode[];
}

function Column({ name, nodes, selection, onSelect }: ColumnProps) {
  return (
    <div className="column">
      <h2 className="quiet">{name}</h2>
      {nodes.map((node) => (
        <ToggleButton
          key={node.id}
          className={`node ${node.style ?? ''}`}
          isSelected={isSameEnd(node, selection)}
          onChange={(isSelected) => onSelect(isSelected ? { kind: node.kind, id: node.id } : null)}
        >
          {node.name}
        </ToggleButton>
      ))}
    </div>
  );
}

function FlowLines({ lines, rows }: { lines: Line[]; rows: number }) {
  const maxFlow = Math.max(1, ...lines.map(({ flow }) => flow));
  const rowCenter = (index: number) => index * ROW_PX + ROW_PX / 2;
  return (
    <svg
      className="links"
      viewBox={`0 0 100 ${rows * ROW_PX}`}
      height={rows * ROW_PX}
      preserveAspectRatio="none"
      role="img"
      aria-label={lines.map(({ name, flow }) => `${name}: ${flow}`).join(', ') || 'No routes'}
    >
      {lines.map(({ id, from, to, flow, name, isDim }) => (
        <path
          key={id}
          d={`M0 ${rowCenter(from)} C 50 ${rowCenter(from)}, 50 ${rowCenter(to)}, 100 ${rowCenter(to)}`}
          strokeWidth={1.5 + (flow / maxFlow) * WIDTH_PX_MAX}
          className={`${flow > 0 ? 'flows' : ''} ${isDim ? 'dim' : ''}`}
        >
          <title>{`${name}: ${flow} of the last 100 events`}</title>
        </path>
      ))}
    </svg>
  );
}
