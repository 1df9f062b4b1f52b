/** A group and a consumer as the two ends of what is made for an end user. */
import { CREATE_PARTIES, type PartiesToCreate } from '../../database/hot/generate-connections.ts';
import type { Row } from '../../database/rows.ts';
import { newId } from '../../ids.ts';
import type { Services } from '../call.ts';

export interface PartiesInput {
  projectId: string;
  groupRef: string;
  /** A name replaces the one that is stored; without one that stays, and is the ref at first. */
  groupName?: string | null | undefined;
  consumerRef: string;
  consumerName?: string | null | undefined;
}

/** Made at their first use. Most are there already, and named so: nothing is written then. */
export async function upsertParties(
  { database, now }: Pick<Services, 'database' | 'now'>,
  { projectId, groupRef, consumerRef, groupName = null, consumerName = null }: PartiesInput,
): Promise<Pick<Row<'Connection'>, 'groupId' | 'consumerId'>> {
  const [[group], [consumer]] = await Promise.all([
    database.rows.find('Group', { projectId, groupRef }),
    database.rows.find('Consumer', { projectId, consumerRef }),
  ]);
  const isNamed = (name: string | null, present: string) => name === null || name === present;
  if (
    group &&
    consumer &&
    isNamed(groupName, group.groupName) &&
    isNamed(consumerName, consumer.consumerName)
  ) {
    return { groupId: group.id, consumerId: consumer.id };
  }
  const ends: PartiesToCreate = {
    projectId,
    ...{ groupId: newId('grp'), groupRef, groupName },
    ...{ consumerId: newId('csm'), consumerRef, consumerName },
    now: now(),
  };
  const put = await database.changes.run(CREATE_PARTIES, ends);
  if (!put) throw new Error('A group and a consumer were put, and are not there.');
  return put;
}
