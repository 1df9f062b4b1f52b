/** Forms that create topics and routes. */
import { graphql } from 'react-relay';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import type { newRouteEventMutation } from '../../__generated__/newRouteEventMutation.graphql.ts';
import type { newRouteTopicDestinationMutation } from '../../__generated__/newRouteTopicDestinationMutation.graphql.ts';
import type { newRouteTopicMutation } from '../../__generated__/newRouteTopicMutation.graphql.ts';
import { getEventName } from '../events/event-name.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Choice, TextInput } from '../parts/form.tsx';
import type { RouteEnd } from './route-ends.ts';
import type { RoutedProject } from './routes-page.tsx';

const CREATE_TOPIC = graphql`
  mutation newRouteTopicMutation($input: CreateTopicInput!) {
    createTopic(input: $input) {
      topic {
        id
      }
    }
  }
`;

const CREATE_EVENT_TOPIC_ROUTE = graphql`
  mutation newRouteEventMutation($input: CreateEventTopicRouteInput!) {
    createEventTopicRoute(input: $input) {
      eventTopicRoute {
        id
      }
    }
  }
`;

const CREATE_TOPIC_DESTINATION_ROUTE = graphql`
  mutation newRouteTopicDestinationMutation($input: CreateTopicDestinationRouteInput!) {
    createTopicDestinationRoute(input: $input) {
      topicDestinationRoute {
        id
      }
    }
  }
`;

interface NewProps {
  project: string;
}

export function NewTopic({ project }: NewProps) {
  return (
    <FormDialog<newRouteTopicMutation>
      triggerLabel="Create topic"
      title="Create topic"
      submitLabel="Create topic"
      mutation={CREATE_TOPIC}
      variables={({ name }) => ({ input: { projectIdOrName: project, name: String(name) } })}
    >
      <TextInput name="name" label="Name" isRequired />
    </FormDialog>
  );
}

interface NewRouteProps extends NewProps {
  routed: RoutedProject;
  /** The selection in the diagram, which prefills the form. */
  selection: RouteEnd | null;
}

const getDefaultValue = (selection: RouteEnd | null, kind: RouteEnd['kind']) =>
  selection?.kind === kind ? { defaultValue: selection.id } : {};

const createOptions = (nodes: readonly { id: string; name: string }[]) =>
  nodes.map(({ id, name }) => ({ id, label: name }));
const TYPES = EVENT_TYPES.map((id) => ({ id, label: getEventName(id) }));

export function RouteFromEvents({ project, routed, selection }: NewRouteProps) {
  const topics = createOptions(routed.topics.nodes);
  return (
    <FormDialog<newRouteEventMutation>
      triggerLabel="Route events"
      kind="primary"
      title="Route events to a topic"
      submitLabel="Create route"
      mutation={CREATE_EVENT_TOPIC_ROUTE}
      variables={({ eventType, topicId }) => ({
        input: {
          projectIdOrName: project,
          topicId: String(topicId),
          eventType: EVENT_TYPES.find((type) => type === eventType) ?? EVENT_TYPES[0],
        },
      })}
    >
      <Choice
        name="eventType"
        label="Event"
        options={TYPES}
        isRequired
        {...getDefaultValue(selection, 'event')}
      />
      <Choice
        name="topicId"
        label="Topic"
        options={topics}
        isRequired
        {...getDefaultValue(selection, 'topic')}
      />
    </FormDialog>
  );
}

export function RouteToDestination({ project, routed, selection }: NewRouteProps) {
  const topics = createOptions(routed.topics.nodes);
  const destinations = createOptions(routed.destinations.nodes);
  return (
    <FormDialog<newRouteTopicDestinationMutation>
      triggerLabel="Route topic"
      title="Route a topic to a destination"
      submitLabel="Create route"
      mutation={CREATE_TOPIC_DESTINATION_ROUTE}
      variables={({ topicId, destinationId }) => ({
        input: {
          projectIdOrName: project,
          topicId: String(topicId),
          destinationId: String(destinationId),
        },
      })}
    >
      <Choice
        name="topicId"
        label="Topic"
        options={topics}
        isRequired
        {...getDefaultValue(selection, 'topic')}
      />
      <Choice
        name="destinationId"
        label="Destination"
        options={destinations}
        isRequired
        {...getDefaultValue(selection, 'destination')}
      />
    </FormDialog>
  );
}
