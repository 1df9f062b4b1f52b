/** Creates the demo's topics, destinations and routes. */
import { DEMO_DESTINATIONS, DEMO_ROUTES, DEMO_STREAM } from './content.ts';
import { type Data, DEMO_PROJECT, type Runner } from './runner.ts';

const projectIdOrName = DEMO_PROJECT;

/** The fields of the demo's project that `fillRoutes` needs. */
export const ROUTE_FIELDS = `
  topics(first: 1000) { nodes { id name } }
  destinations(first: 1000) { nodes { id name url } }
  eventTopicRoutes(first: 1000) { nodes { eventType topic { id } } }
  topicDestinationRoutes(first: 1000) { nodes { topic { id } destination { id } } }`;

/** Creates missing topics, destinations and routes. Returns the id of the stream destination. */
export async function fillRoutes(
  runner: Runner,
  existing: Data,
  sandboxUrl: string,
): Promise<string> {
  const topics = new Map<string, string>(
    existing.topics.nodes.map(({ id, name }: Data) => [name, id]),
  );
  const destinationIds = await fillDestinations(runner, existing.destinations.nodes, sandboxUrl);
  for (const { topic, destinations, eventTypes } of DEMO_ROUTES) {
    const topicId = topics.get(topic) ?? (await createTopic(runner, topic));
    topics.set(topic, topicId);
    for (const name of destinations) {
      const destinationId = destinationIds[name];
      const isRouted = existing.topicDestinationRoutes.nodes.some(
        (route: Data) => route.topic.id === topicId && route.destination.id === destinationId,
      );
      if (isRouted) continue;
      const input = { projectIdOrName, topicId, destinationId };
      await runner.change('createTopicDestinationRoute', input, 'topicDestinationRoute { id }');
    }
    for (const eventType of eventTypes) {
      const isTopicRouted = existing.eventTopicRoutes.nodes.some(
        (route: Data) => route.topic.id === topicId && route.eventType === eventType,
      );
      if (isTopicRouted) continue;
      const input = { projectIdOrName, topicId, eventType };
      await runner.change('createEventTopicRoute', input, 'eventTopicRoute { id }');
    }
  }
  return destinationIds[DEMO_STREAM];
}

type DestinationName = (typeof DEMO_DESTINATIONS)[number]['name'];

/**
 * Returns the ids of the destinations by name. Updates the URLs of the inboxes, because the sandbox may have a different
 * port after each start.
 */
async function fillDestinations(
  runner: Runner,
  existing: Data[],
  sandboxUrl: string,
): Promise<Record<DestinationName, string>> {
  const ids = { events: '', records: '', [DEMO_STREAM]: '' };
  for (const { name, type } of DEMO_DESTINATIONS) {
    const address = type === 'WEBHOOK' ? { url: `${sandboxUrl}/inbox/${name}` } : {};
    const destination = existing.find((candidate) => candidate.name === name);
    ids[name] = destination?.id ?? (await createDestination(runner, { name, type, ...address }));
    if (!destination || !address.url || destination.url === address.url) continue;
    const input = { projectIdOrName, destinationId: destination.id, ...address };
    await runner.change('updateDestination', input, 'destination { id }');
  }
  return ids;
}

async function createDestination(runner: Runner, fields: object): Promise<string> {
  const input = { projectIdOrName, ...fields };
  return (await runner.change('createDestination', input, 'destination { id }')).destination.id;
}

async function createTopic(runner: Runner, name: string): Promise<string> {
  const { topic } = await runner.change('createTopic', { projectIdOrName, name }, 'topic { id }');
  return topic.id;
}
