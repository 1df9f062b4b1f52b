/** How topics and their routes appear in project documents: a topic names its event types and destinations. */
import { z } from 'zod';
import type { NotificationEventType } from '../../../database/generated/enums.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { EVENTS } from '../../../events/event-types.ts';
import {
  getRowId,
  type ItemChanges,
  listNeeds,
  type PlanTransaction,
} from '../../access/item-change.ts';
import { type CanonicalItem, parseCanonicalItem, toCanonicalItem } from '../../base/canonical.ts';
import { orElse } from '../../base/input-schemas.ts';
import { checkRules } from '../../base/issues.ts';
import { destinationName, topicName } from '../../base/names.ts';
import { listRepeatIssues } from '../../base/repeats.ts';
import {
  createEventTopicRoute,
  createEventTopicRouteInput,
  deleteEventTopicRoute,
  insertEventTopicRoute,
} from '../event-topic-route.ts';
import { createTopic, deleteTopic, insertTopic, updateTopic } from '../topic.ts';
import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  insertTopicDestinationRoute,
} from '../topic-destination-route.ts';

/** The maximum number of destinations of a topic in a document. */
const DESTINATIONS_MAX = 200;

const { eventType } = createEventTopicRouteInput.shape;

/** A topic without its routes. A member that is new here must have the name of the row's column. */
const topicMembers = z.object({
  name: topicName.describe(
    '1 to 64 letters, digits, dashes and spaces, without a space at either end; unique in the project.',
  ),
});

export const topicItem = topicMembers
  .extend({
    eventTypes: orElse(z.array(eventType).max(Object.keys(EVENTS).length), []).describe(
      'The types of the events that go to the topic, like `connection.created`.',
    ),
    destinations: orElse(z.array(destinationName).max(DESTINATIONS_MAX), []).describe(
      'The names of the destinations that get the events of the topic.',
    ),
  })
  .superRefine(
    checkRules(function* ({ eventTypes, destinations }) {
      yield* listRepeatIssues(eventTypes, ['eventTypes']);
      yield* listRepeatIssues(destinations, ['destinations']);
    }),
  );

type TopicItem = z.output<typeof topicItem>;

export function toCanonicalTopic(topic: TopicItem): CanonicalItem {
  return toCanonicalItem(topicItem, topic);
}

/** Reads the topics of a project with the event types and the destinations that their routes name. */
export async function readTopics(
  client: Pick<Transaction, 'topic' | 'eventTopicRoute' | 'topicDestinationRoute'>,
  projectId: string,
  destinationNames: ReadonlyMap<string, string>,
): Promise<{ id: string; item: CanonicalItem }[]> {
  const where = { projectId };
  const topics = await client.topic.findMany({ where, orderBy: { id: 'asc' } });
  const eventRoutes = await client.eventTopicRoute.findMany({ where });
  const destinationRoutes = await client.topicDestinationRoute.findMany({ where });
  const eventRoutesByTopic = Map.groupBy(eventRoutes, ({ topicId }) => topicId);
  const destinationRoutesByTopic = Map.groupBy(destinationRoutes, ({ topicId }) => topicId);
  return topics.map((topic) => ({
    id: topic.id,
    item: toCanonicalItem(topicItem, {
      ...topic,
      eventTypes: (eventRoutesByTopic.get(topic.id) ?? []).map((route) => route.eventType),
      destinations: (destinationRoutesByTopic.get(topic.id) ?? []).flatMap(
        ({ destinationId }) => destinationNames.get(destinationId) ?? [],
      ),
    }),
  }));
}

/** A topic in canonical form, split into the items that a plan changes. */
interface TopicParts {
  topic: CanonicalItem;
  eventRoutes: { eventType: string; topic: string }[];
  destinationRoutes: { topic: string; destination: string }[];
}

export function splitTopic({ eventTypes, destinations, ...topic }: CanonicalItem): TopicParts {
  const name = String(topic.name);
  const listNames = (names: unknown) => (names as string[] | undefined) ?? [];
  return {
    topic,
    eventRoutes: listNames(eventTypes).map((eventType) => ({ eventType, topic: name })),
    destinationRoutes: listNames(destinations).map((destination) => ({
      topic: name,
      destination,
    })),
  };
}

export const topicChanges: ItemChanges = {
  needs: listNeeds(createTopic, updateTopic, deleteTopic),
  async put({ call, tx, projectId, ids }, { path, after }) {
    const members = parseCanonicalItem(topicMembers, after);
    const id = ids.get(path);
    if (id === undefined) {
      ids.set(path, (await insertTopic(tx, { projectId, ...members })).id);
    } else {
      const data = { ...members, updateTime: call.now() };
      await tx.topic.update({ where: { projectId_id: { projectId, id } }, data });
    }
  },
  async remove({ tx, projectId, ids }, { path }) {
    await tx.topic.deleteMany({ where: { projectId, id: getRowId({ ids }, path) } });
  },
};

export const eventTopicRouteChanges: ItemChanges = {
  needs: listNeeds(createEventTopicRoute, createEventTopicRoute, deleteEventTopicRoute),
  async put(plan, { after }) {
    await insertEventTopicRoute(plan.tx, getEventRoute(plan, after));
  },
  async remove(plan, { before }) {
    await plan.tx.eventTopicRoute.deleteMany({ where: getEventRoute(plan, before) });
  },
};

const EVENT_TYPES_BY_WIRE_NAME = new Map(
  Object.entries(EVENTS).map(([name, { wireName }]) => [wireName as string, name]),
);

function getEventRoute({ projectId, ids }: PlanTransaction, route: CanonicalItem) {
  return {
    projectId,
    eventType: EVENT_TYPES_BY_WIRE_NAME.get(String(route.eventType)) as NotificationEventType,
    topicId: getRowId({ ids }, `topics.${route.topic}`),
  };
}

export const topicDestinationRouteChanges: ItemChanges = {
  needs: listNeeds(
    createTopicDestinationRoute,
    createTopicDestinationRoute,
    deleteTopicDestinationRoute,
  ),
  async put(plan, { after }) {
    await insertTopicDestinationRoute(plan.tx, getDestinationRoute(plan, after));
  },
  async remove(plan, { before }) {
    await plan.tx.topicDestinationRoute.deleteMany({ where: getDestinationRoute(plan, before) });
  },
};

function getDestinationRoute({ projectId, ids }: PlanTransaction, route: CanonicalItem) {
  return {
    projectId,
    topicId: getRowId({ ids }, `topics.${route.topic}`),
    destinationId: getRowId({ ids }, `destinations.${route.destination}`),
  };
}
