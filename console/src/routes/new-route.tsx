/** A new topic, and new routes. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import type { newRouteEventMutation } from '../../__generated__/newRouteEventMutation.graphql.ts';
import type { newRouteTopicDestinationMutation } from '../../__generated__/newRouteTopicDestinationMutation.graphql.ts';
import type { newRouteTopicMutation } from '../../__generated__/newRouteTopicMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Choice, type FormValues, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { wordsOf } from '../parts/status.tsx';
import type { RoutedProject } from './routes-page.tsx';

const TOPIC = graphql`
  mutation newRouteTopicMutation($input: CreateTopicInput!) {
    createTopic(input: $input) {
      topic {
        id
      }
    }
  }
`;

const FROM_EVENT = graphql`
  mutation newRouteEventMutation($input: CreateEventTopicRouteInput!) {
    createEventTopicRoute(input: $input) {
      eventTopicRoute {
        id
      }
    }
  }
`;

const TO_DESTINATION = graphql`
  mutation newRouteTopicDestinationMutation($input: CreateTopicDestinationRouteInput!) {
    createTopicDestinationRoute(input: $input) {
      topicDestinationRoute {
        id
      }
    }
  }
`;

export function NewTopic({ project }: { project: string }) {
  const made = useChange<newRouteTopicMutation>(TOPIC);
  return (
    <FormDialog
      opener="New topic"
      title="New topic"
      submit="Make it"
      change={made}
      shown={['name']}
      onSubmit={({ name }) => made.run({ input: { projectIdOrName: project, name: String(name) } })}
    >
      <TextInput name="name" label="Name" isRequired />
    </FormDialog>
  );
}

const KINDS = [
  { id: 'event', label: 'Events to a topic' },
  { id: 'topic', label: 'A topic to a destination' },
];

export function NewRoute({ project, routed }: { project: string; routed: RoutedProject }) {
  const fromEvent = useChange<newRouteEventMutation>(FROM_EVENT);
  const toDestination = useChange<newRouteTopicDestinationMutation>(TO_DESTINATION);
  const [kind, setKind] = useState('event');
  const topics = routed.topics.nodes.map(({ id, name }) => ({ id, label: name }));
  const destinations = routed.destinations.nodes.map(({ id, name }) => ({ id, label: name }));
  const types = EVENT_TYPES.map((id) => ({ id, label: wordsOf(id) }));
  const make = (values: FormValues) => {
    const input = { projectIdOrName: project, topicId: String(values.topicId) };
    return kind === 'event'
      ? fromEvent.run({ input: { ...input, eventType: values.eventType as never } })
      : toDestination.run({ input: { ...input, destinationId: String(values.destinationId) } });
  };
  return (
    <FormDialog
      opener="New route"
      kind="primary"
      title="New route"
      submit="Make it"
      change={kind === 'event' ? fromEvent : toDestination}
      shown={['eventType', 'topicId', 'destinationId']}
      onSubmit={make}
    >
      <Choice label="From where to where" options={KINDS} value={kind} onChange={setKind} />
      {kind === 'event' && <Choice name="eventType" label="Event" options={types} isRequired />}
      <Choice name="topicId" label="Topic" options={topics} isRequired />
      {kind === 'topic' && (
        <Choice name="destinationId" label="Destination" options={destinations} isRequired />
      )}
    </FormDialog>
  );
}
