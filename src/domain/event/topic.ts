/** Topics: named streams of events that routes fill and destinations listen to. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { isMissingRow } from '../../database/violations.ts';
import { notFound } from '../../errors.ts';
import { id, newId } from '../../ids.ts';
import type { Call } from '../call.ts';
import { eventName, projectIdOrName } from '../names.ts';
import { listPage, type PageArgs } from '../page.ts';
import { getProject } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { authorize } from '../viewer/viewer.ts';

type Topic = Row<'Topic'>;

const topicId = id.describe('The topic.');
const name = eventName.describe('Letters, digits and dashes, 1 to 64; unique in the project.');

export const createTopicInput = z
  .object({ projectIdOrName, name })
  .meta({ id: 'CreateTopicInput', description: 'A topic to make.' });

export const updateTopicInput = z
  .object({ projectIdOrName, topicId, name })
  .meta({ id: 'UpdateTopicInput', description: 'A new name for a topic.' });

export const deleteTopicInput = z
  .object({ projectIdOrName, topicId })
  .meta({ id: 'DeleteTopicInput', description: 'A topic to delete, with its routes.' });

export function listTopics(call: Call, project: Row<'Project'>, args: PageArgs) {
  authorize(call.viewer, 'read');
  const list = { name: 'Project.topics', parentId: project.id, table: 'Topic' } as const;
  return listPage(call, { ...list, where: { projectId: project.id } }, args);
}

export async function createTopic(
  call: Call,
  input: z.output<typeof createTopicInput>,
): Promise<Topic> {
  const { id: projectId } = await getProject(call, input.projectIdOrName, 'events:write');
  const data = { id: newId('top'), projectId, name: input.name };
  return uniquely(call.database.prisma.topic.create({ data }), nameTaken(input.name));
}

/** Routes stay: they name the topic by its id. */
export async function updateTopic(
  call: Call,
  input: z.output<typeof updateTopicInput>,
): Promise<Topic> {
  const { id: projectId } = await getProject(call, input.projectIdOrName, 'events:write');
  const where = { projectId_id: { projectId, id: input.topicId } };
  const data = { name: input.name, updateTime: call.now() };
  try {
    return await uniquely(
      call.database.prisma.topic.update({ where, data }),
      nameTaken(input.name),
    );
  } catch (error) {
    if (isMissingRow(error)) throw notFound('Topic', input.topicId);
    throw error;
  }
}

/** Deletes its routes too; events keep the topic's id. */
export async function deleteTopic(
  call: Call,
  input: z.output<typeof deleteTopicInput>,
): Promise<{ deletedId: string }> {
  const { id: projectId } = await getProject(call, input.projectIdOrName, 'events:write');
  const where = { projectId, id: input.topicId };
  const { count } = await call.database.prisma.topic.deleteMany({ where });
  if (count === 0) throw notFound('Topic', input.topicId);
  return { deletedId: input.topicId };
}

function nameTaken(name: string): string {
  return `The project already has a topic named ${name}.`;
}
