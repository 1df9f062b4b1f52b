/** Topics, destinations, and the routes between them. */
import { DEMO_DESTINATIONS, DEMO_ROUTES, DEMO_STREAM } from './content.ts';
import { type Data, DEMO_PROJECT, type Runner } from './runner.ts';

const projectIdOrName = DEMO_PROJECT;

/** What `fillRoutes` needs of the demo's project. */
export const KNOWN_ROUTES = `
  topics { nodes { id name } }
  destinations { nodes { id name url } }
  eventTopicRoutes { nodes { eventType topic { id } } }
  topicDestinationRoutes { nodes { topic { id } destination { id } } }`;

/** Returns the id of the stream. */
export async function fillRoutes(runner: Runner, known: Data, sandboxUrl: string): Promise<string> {
  const topics = namesToIds(known.topics.nodes);
  const destinations = await fillDestinations(runner, known.destinations.nodes, sandboxUrl);
  for (const { topic, destinations: names, eventTypes } of DEMO_ROUTES) {
    const topicId = topics.get(topic) ?? (await createTopic(runner, topic));
    topics.set(topic, topicId);
    for (const name of names) {
      const destinationId = destinations[name];
      const isRouted = known.topicDestinationRoutes.nodes.some(
        (route: Data) => route.topic.id === topicId && route.destination.id === destinationId,
      );
      if (isRouted) continue;
      const input = { projectIdOrName, topicId, destinationId };
      await runner.change('createTopicDestinationRoute', input, 'topicDestinationRoute { id }');
    }
    for (const eventType of eventTypes) {
      const isKnown = known.eventTopicRoutes.nodes.some(
        (route: Data) => route.topic.id === topicId && route.eventType === eventType,
      );
      if (isKnown) continue;
      const input = { projectIdOrName, topicId, eventType };
      await runner.change('createEventTopicRoute', input, 'eventTopicRoute { id }');
    }
  }
  return destinations[DEMO_STREAM];
}

type Name = (typeof DEMO_DESTINATIONS)[number]['name'];

/** Their ids. The sandbox may have another port at each start: its inboxes move along. */
async function fillDestinations(
  runner: Runner,
  known: Data[],
  sandboxUrl: string,
): Promise<Record<Name, string>> {
  const ids = { events: '', records: '', [DEMO_STREAM]: '' };
  for (const { name, type } of DEMO_DESTINATIONS) {
    const address = type === 'WEBHOOK' ? { url: `${sandboxUrl}/inbox/${name}` } : {};
    const made = known.find((one) => one.name === name);
    ids[name] = made?.id ?? (await createDestination(runner, { name, type, ...address }));
    if (!made || !address.url || made.url === address.url) continue;
    const input = { projectIdOrName, destinationId: made.id, ...address };
    await runner.change('updateDestination', input, 'destination { id }');
  }
  return ids;
}

async function createDestination(runner: Runner, given: object): Promise<string> {
  const input = { projectIdOrName, ...given };
  return (await runner.change('createDestination', input, 'destination { id }')).destination.id;
}

async function createTopic(runner: Runner, name: string): Promise<string> {
  const { topic } = await runner.change('createTopic', { projectIdOrName, name }, 'topic { id }');
  return topic.id;
}

function namesToIds(nodes: { id: string; name: string }[]): Map<string, string> {
  return new Map(nodes.map(({ id, name }) => [name, id]));
}
