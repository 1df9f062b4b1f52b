/** Subscribes to Salesforce's Change Data Capture through its Pub/Sub API. */
import { z } from 'zod';
import { MINUTE_MS } from '../../work/durations.ts';
import type { ProviderSession } from '../contract.ts';
import { parseResponse } from '../read-responses.ts';
import type { ProviderEvent, SubscribeCapability, TimeSpan } from '../subscribing.ts';
import { channelCalls, formatTopicName } from './channel-members.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';

export function createSubscribe(pubSubUrl: string): SubscribeCapability {
  return {
    // UNDELETE has the kind OTHER: the record exists again, but was not created.
    kinds: ['CREATE', 'UPDATE', 'DELETE', 'OTHER'],
    // Each connection has its own channel, even if several connections have the same org.
    findAccount: ({ id }) => id,
    calls: channelCalls,
    stream: {
      url: pubSubUrl,
      async open(session, start) {
        const organizationId = await getOrganizationId(session);
        const org = {
          instanceUrl: session.baseUrl,
          organizationId,
          topicName: formatTopicName(start.account),
        };
        const { openChangeStream } = await import('./pubsub/change-stream.ts');
        return openChangeStream(org, start);
      },
      listDeletions,
    },
  };
}

const userInfo = z.object({ organization_id: z.string().min(15).max(18) });

async function getOrganizationId(session: ProviderSession): Promise<string> {
  const response = await session.send({ method: 'GET', path: paths.userInfo });
  return parseResponse(userInfo, requireSuccess(response), 'READ').organization_id;
}

const deletedResponse = z.object({
  deletedRecords: z.array(z.object({ id: z.string(), deletedDate: z.string() })),
});

/** Lists deletions, which Salesforce keeps for 15 days. */
async function listDeletions(
  session: ProviderSession,
  { account, objectName, since, until }: TimeSpan & { account: string; objectName: string },
): Promise<ProviderEvent[]> {
  // Salesforce ignores the seconds of both times, so a minute is added to include `until`. It refuses a range that is
  // not longer than a minute.
  const end = new Date(Math.max(until.getTime(), since.getTime() + MINUTE_MS) + MINUTE_MS);
  const path = paths.deleted(objectName);
  const query = { start: since.toISOString(), end: end.toISOString() };
  const response = await session.send({ method: 'GET', path, query });
  const { deletedRecords } = parseResponse(deletedResponse, requireSuccess(response), 'READ');
  return deletedRecords.map(({ id, deletedDate }) => ({
    nativeId: ['deleted', id, deletedDate].join('.'),
    account,
    objectName,
    recordId: id,
    kind: 'DELETE',
    nativeType: 'DELETE',
    time: new Date(deletedDate),
    changedFields: [],
    record: null,
    association: null,
    raw: { id, deletedDate },
  }));
}
