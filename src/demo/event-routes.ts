/** Topics, destinations at the sandbox's inbox, and the routes between them. */
import { DEMO_ROUTES } from './content.ts';
import { type Data, DEMO_PROJECT, type Runner } from './runner.ts';

const projectIdOrName = DEMO_PROJECT;

/** What `fillRoutes` needs of the demo's project. */
export const KNOWN_ROUTES = `
  topics { nodes { id name } }
  destinations { nodes { id name url } }
  eventTopicRoutes { nodes { eventType topic { id } } }
  topicDestinationRoutes { nodes { topic { id } destination { id } } }`;

export async function fillRoutes(runner: Runner, known: Data, sandboxUrl: string): Promise<void> {
  const topics = namesToIds(known.topics.nodes);
  const destinations = namesToIds(known.destinations.nodes);
  await moveInboxes(runner, known.destinations.nodes, sandboxUrl);
  for (const { topic, destination, eventTypes } of DEMO_ROUTES) {
    const topicId = topics.get(topic) ?? (await createTopic(runner, topic));
    topics.set(topic, topicId);
    const destinationId =
      destinations.get(destination) ?? (await createDestination(runner, destination, sandboxUrl));
    destinations.set(destination, destinationId);
    const isRouted = known.topicDestinationRoutes.nodes.some(
      (route: Data) => route.topic.id === topicId && route.destination.id === destinationId,
    );
    if (!isRouted) {
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
}

/** The sandbox may have another port at each start. */
async function moveInboxes(runner: Runner, nodes: Data[], sandboxUrl: string): Promise<void> {
  for (const { id, name, url } of nodes) {
    const isOurs = DEMO_ROUTES.some(({ destination }) => destination === name);
    if (!isOurs || url === inboxUrl(sandboxUrl, name)) continue;
    const input = { projectIdOrName, destinationId: id, url: inboxUrl(sandboxUrl, name) };
    await runner.change('updateDestination', input, 'destination { id }');
  }
}

async function createTopic(runner: Runner, name: string): Promise<string> {
  const { topic } = await runner.change('createTopic', { projectIdOrName, name }, 'topic { id }');
  return topic.id;
}

async function createDestination(runner: Runner, name: string, sandboxUrl: string) {
  const input = { projectIdOrName, name, type: 'WEBHOOK', url: inboxUrl(sandboxUrl, name) };
  const { destination } = await runner.change('createDestination', input, 'destination { id }');
  return destination.id as string;
}

function inboxUrl(sandboxUrl: string, name: string): string {
  return `${sandboxUrl}/inbox/${name}`;
}

function namesToIds(nodes: { id: string; name: string }[]): Map<string, string> {
  return new Map(nodes.map(({ id, name }) => [name, id]));
}
