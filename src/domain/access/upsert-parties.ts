/** Creates the group and the consumer that a token or an input names by their refs. */

import {
  CREATE_PARTIES,
  type PartiesToCreate,
} from '../../database/statements/hot/generate-connections.ts';
import type { Row } from '../../database/statements/tables.ts';
import { newId } from '../../kernel/ids.ts';
import type { RowServices } from './call.ts';

interface PartiesInput {
  projectId: string;
  groupRef: string;
  /** The new display name. If absent, a stored group keeps its name, and a new group gets the ref as its name. */
  groupName?: string | null | undefined;
  consumerRef: string;
  consumerName?: string | null | undefined;
}

/**
 * Returns the group and the consumer, and creates or renames them if necessary. Usually both exist with these names, and
 * nothing is written.
 */
export async function upsertParties(
  { database, now }: RowServices,
  { projectId, groupRef, consumerRef, groupName = null, consumerName = null }: PartiesInput,
): Promise<Pick<Row<'Connection'>, 'groupId' | 'consumerId'>> {
  const [[group], [consumer]] = await Promise.all([
    database.reads.find('Group', { projectId, groupRef }),
    database.reads.find('Consumer', { projectId, consumerRef }),
  ]);
  const isCurrent = (name: string | null, storedName: string) =>
    name === null || name === storedName;
  if (
    group &&
    consumer &&
    isCurrent(groupName, group.groupName) &&
    isCurrent(consumerName, consumer.consumerName)
  ) {
    return { groupId: group.id, consumerId: consumer.id };
  }
  const parties: PartiesToCreate = {
    projectId,
    groupId: newId('grp'),
    groupRef,
    groupName,
    consumerId: newId('csm'),
    consumerRef,
    consumerName,
    now: now(),
  };
  const storedParties = await database.runShared(CREATE_PARTIES, parties);
  if (!storedParties) throw new Error('Bug: the statement that creates parties returned no row.');
  return storedParties;
}
