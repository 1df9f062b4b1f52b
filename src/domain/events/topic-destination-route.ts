/** Routes of topics to destinations. A route sends all events of a topic to one destination. */
import { z } from 'zod';
import { isForeignKeyViolation } from '../../database/connect/violations.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { type Issue, invalidInput, notFound } from '../../kernel/errors.ts';
import { id, newId } from '../../kernel/ids.ts';
import type { Call, RowServices } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { read } from '../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { requireUnique } from '../access/row-changes.ts';
import { createInputIssue } from '../base/issues.ts';
import { projectIdOrName } from '../base/names.ts';
import { createdInProject, idField, resource } from '../base/resource.ts';

type Route = Row<'TopicDestinationRoute'>;

export const topicDestinationRouteResource = resource(
  'TopicDestinationRoute',
  'A route of a topic to a destination: all events of the topic are sent to it.',
  {
    ...createdInProject,
    topicId: idField.describe('The id of the topic whose events are sent.'),
    destinationId: idField.describe('The id of the destination that receives the events.'),
  },
);

interface RouteParties {
  topicId: string;
  destinationId: string;
}

const createTopicDestinationRouteInput = z
  .object({
    projectIdOrName,
    topicId: id.describe('The id of the topic.'),
    destinationId: id.describe('The id of the destination that receives the events.'),
  })
  .meta({
    id: 'CreateTopicDestinationRouteInput',
    description: 'The topic to route, and the destination that receives its events.',
  });

const deleteTopicDestinationRouteInput = z
  .object({ projectIdOrName, routeId: id.describe('The id of the route.') })
  .meta({ id: 'DeleteTopicDestinationRouteInput', description: 'The route to delete.' });

export const topicDestinationRouteFilters = z.object({
  topicId: id.optional().describe('Only routes of the topic with this id.'),
  destinationId: id.optional().describe('Only routes to the destination with this id.'),
});

export const listTopicDestinationRoutes = read(
  'read',
  'Lists routes of topics to destinations, newest first.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { topicId, destinationId, ...args }: PageArgs & FiltersOf<typeof topicDestinationRouteFilters>,
  ) => {
    const where = {
      projectId,
      ...(topicId != null && { topicId }),
      ...(destinationId != null && { destinationId }),
    };
    const list = { name: 'Project.topicDestinationRoutes', parentId: projectId, where } as const;
    return listPage(call, { ...list, table: 'TopicDestinationRoute' }, args);
  },
);

export const listRoutesOfTopic = read(
  'read',
  'Routes of the topic to destinations, newest first.',
  (call: Call, { id: topicId, projectId }: Row<'Topic'>, args: PageArgs) => {
    const where = { projectId, topicId };
    const list = { name: 'Topic.topicDestinationRoutes', parentId: topicId, where } as const;
    return listPage(call, { ...list, table: 'TopicDestinationRoute' }, args);
  },
);

export const createTopicDestinationRoute = projectMutation({
  description: 'Creates a route. Later events of the topic are sent to the destination.',
  needs: 'events:write',
  input: createTopicDestinationRouteInput,
  async run(call, { topicId, destinationId }, { id: projectId }): Promise<Route> {
    const parties = { topicId, destinationId };
    try {
      return await insertTopicDestinationRoute(call.database.prisma, { projectId, ...parties });
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw invalidInput(await listMissingParties(call, projectId, parties));
    }
  },
});

/** Throws CONFLICT if the route exists. */
export async function insertTopicDestinationRoute(
  client: Pick<Transaction, 'topicDestinationRoute'>,
  route: RouteParties & { projectId: string },
): Promise<Route> {
  const insertion = client.topicDestinationRoute.create({ data: { id: newId('tdr'), ...route } });
  return requireUnique(insertion, 'The topic is already routed to that destination.');
}

export const deleteTopicDestinationRoute = projectMutation({
  description: 'Deletes a route of a topic to a destination.',
  needs: 'events:write',
  input: deleteTopicDestinationRouteInput,
  async run({ database }, { routeId: id }, { id: projectId }): Promise<{ deletedId: string }> {
    const where = { projectId, id };
    const { count } = await database.prisma.topicDestinationRoute.deleteMany({ where });
    if (count === 0) throw notFound('Route', id);
    return { deletedId: id };
  },
});

/**
 * Returns an issue for the topic and for the destination if they do not exist. The foreign keys include the project, so
 * another project's topic or destination is refused in the same way.
 */
async function listMissingParties(
  { database: { reads } }: RowServices,
  projectId: string,
  { topicId, destinationId }: RouteParties,
): Promise<Issue[]> {
  const [topics, destinations] = await Promise.all([
    reads.find('Topic', { projectId, id: topicId }),
    reads.find('Destination', { projectId, id: destinationId }),
  ]);
  const issues: Issue[] = [];
  const detail = 'does not exist.';
  if (topics.length === 0) issues.push(createInputIssue(['topicId'], detail, topicId));
  if (destinations.length === 0) {
    issues.push(createInputIssue(['destinationId'], detail, destinationId));
  }
  return issues;
}
