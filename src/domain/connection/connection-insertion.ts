/** A first connection of a group and a consumer: one statement makes it and its event, and both of them if need be. */
import {
  type ConnectionToGenerate,
  GENERATE_CONNECTIONS,
} from '../../database/changes/generate-connections.ts';
import type { AccountRow } from '../../database/reads/write-target.ts';
import { eventRow } from '../../events/record.ts';
import { newId } from '../../ids.ts';
import type { Services } from '../call.ts';
import { newCredentials } from './connection.ts';
import { connectionFields } from './connection-events.ts';
import type { Generation } from './connection-generation.ts';

/** A connection without a provider app. Null if there is one already: then nothing was changed. */
export async function insertConnection(
  services: Services,
  generation: Generation,
): Promise<AccountRow | null> {
  return services.database.changes.run(GENERATE_CONNECTIONS, rowOf(services, generation));
}

function rowOf(
  services: Services,
  { projectId, scheme, input, providerConsumerRef = null }: Generation,
): ConnectionToGenerate {
  const [id, groupId, consumerId] = [newId('con'), newId('grp'), newId('csm')];
  const { provider, groupRef, consumerRef } = input;
  const group = { groupRef, groupName: input.groupName ?? null };
  const consumer = { consumerRef, consumerName: input.consumerName ?? null };
  const { credentialsSealed, tokenExpireTime } = newCredentials(
    services,
    { id, projectId, provider, authScheme: scheme },
    input,
  );
  const named = { ...consumer, consumerName: consumer.consumerName ?? consumerRef };
  return {
    id,
    projectId,
    provider,
    groupId,
    ...group,
    consumerId,
    ...consumer,
    authScheme: scheme,
    providerWorkspaceRef: input.providerWorkspaceRef ?? null,
    providerConsumerRef,
    providerMetadata: input.providerMetadata ?? null,
    credentialsSealed,
    tokenExpireTime,
    now: services.now(),
    event: eventRow({
      projectId,
      connectionId: id,
      eventType: 'CONNECTION_CREATED',
      data: connectionFields({ id, projectId, provider, group, consumer: named }),
      subject: null,
    }),
  };
}
