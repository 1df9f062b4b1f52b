/** Topics group events. Routes connect event types with topics, and topics with destinations. */
import { z } from 'zod';
import { isMissingRow } from '../../database/connect/violations.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { notFound } from '../../kernel/errors.ts';
import { findPrefix, id, newId } from '../../kernel/ids.ts';
import type { RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { read } from '../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { listSearchPage, type searchFilters } from '../access/paging/search.ts';
import { requireUnique } from '../access/row-changes.ts';
import { listVisibleRows } from '../access/scope.ts';
import { projectIdOrName, topicName } from '../base/names.ts';
import { createdInProject, resource, updateTime } from '../base/resource.ts';

type Topic = Row<'Topic'>;

export const topicResource = resource(
  'Topic',
  'A name that groups events. Routes determine the events that reach it and the destinations that receive them.',
  {
    ...createdInProject,
    name: z.string().describe('Unique in the project: letters, digits, dashes and spaces.'),
    updateTime,
  },
);

const topicId = id.describe('The id of the topic.');
const name = topicName.describe(
  '1 to 64 letters, digits, dashes and spaces; unique in the project. It must not start or end with a space.',
);

const createTopicInput = z
  .object({ projectIdOrName, name })
  .meta({ id: 'CreateTopicInput', description: 'The topic to create.' });

const updateTopicInput = z
  .object({ projectIdOrName, topicId, name })
  .meta({ id: 'UpdateTopicInput', description: 'The topic to rename, and its new name.' });

const deleteTopicInput = z
  .object({ projectIdOrName, topicId })
  .meta({ id: 'DeleteTopicInput', description: 'The topic to delete, with its routes.' });

type TopicsArgs = PageArgs & FiltersOf<typeof searchFilters>;

export const listTopics = read(
  'read',
  'Lists topics, newest first.',
  (call, { id: projectId }: Row<'Project'>, args: TopicsArgs) => {
    const list = { name: 'Project.topics', parentId: projectId, table: 'Topic' } as const;
    const listAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return listSearchPage(call, list, args, listAll);
  },
);

/** Returns the project's topic of that id or name, or null. */
export async function findTopic(
  call: RowCall,
  { projectId, idOrName }: { projectId: string; idOrName: string },
): Promise<Topic | null> {
  const key = findPrefix(idOrName) === 'top' ? { id: idOrName } : { name: idOrName };
  const [topic] = await listVisibleRows(call, 'Topic', { projectId, ...key });
  return topic ?? null;
}

export const createTopic = projectMutation({
  description: 'Creates a topic. Events reach it through routes.',
  needs: 'events:write',
  input: createTopicInput,
  run: (
    { database },
    { projectIdOrName: _project, ...members },
    { id: projectId },
  ): Promise<Topic> => insertTopic(database.prisma, { projectId, ...members }),
});

type NewTopic = Omit<z.output<typeof createTopicInput>, 'projectIdOrName'> & { projectId: string };

/** Throws CONFLICT if the name is taken. */
export function insertTopic(client: Pick<Transaction, 'topic'>, topic: NewTopic): Promise<Topic> {
  const data = { id: newId('top'), ...topic };
  return requireUnique(client.topic.create({ data }), describeTakenName(topic.name));
}

export const updateTopic = projectMutation({
  description: 'Renames a topic. Its routes are kept, because they refer to its id.',
  needs: 'events:write',
  input: updateTopicInput,
  async run(
    call,
    { projectIdOrName: _project, topicId: id, ...members },
    { id: projectId },
  ): Promise<Topic> {
    const where = { projectId_id: { projectId, id } };
    const data = { ...members, updateTime: call.now() };
    try {
      return await requireUnique(
        call.database.prisma.topic.update({ where, data }),
        describeTakenName(members.name),
      );
    } catch (error) {
      if (isMissingRow(error)) throw notFound('Topic', id);
      throw error;
    }
  },
});

export const deleteTopic = projectMutation({
  description: 'Deletes a topic and its routes. Events keep the id of the topic.',
  needs: 'events:write',
  input: deleteTopicInput,
  async run({ database }, { topicId: id }, { id: projectId }) {
    const { count } = await database.prisma.topic.deleteMany({ where: { projectId, id } });
    if (count === 0) throw notFound('Topic', id);
    return { deletedId: id };
  },
});

function describeTakenName(name: string): string {
  return `The project already has a topic named ${name}.`;
}
