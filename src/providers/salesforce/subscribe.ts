/** Subscribes to Salesforce's Change Data Capture through its Pub/Sub API. */
import { z } from 'zod';
import { MINUTE_MS } from '../../work/durations.ts';
import type { ProviderSession } from '../contract.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import type {
  CreatedSubscription,
  DesiredSubscription,
  ProviderEvent,
  SubscribeCapability,
  SubscriptionCalls,
  TimeSpan,
} from '../subscribing.ts';
import { createFailure, requireSuccess } from './failure.ts';
import { checkObjectName } from './object-names.ts';
import { paths } from './paths.ts';
import { createResponse, queryResponse } from './wire.ts';

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

const NOT_FOUND = 404;
const SEPARATOR = '/';

const CHANNELS = 'PlatformEventChannel';
const MEMBERS = 'PlatformEventChannelMember';
type ToolingObject = typeof CHANNELS | typeof MEMBERS;

/**
 * Selects the objects whose changes Salesforce reports, by members of a channel that the Tooling API creates. Each
 * connection has its own channel, so the selections of the org and of other connections stay unchanged. A member serves
 * all installations of the connection.
 */
const channelCalls: SubscriptionCalls = {
  isShared: true,

  async create(
    session,
    { account, objectName }: DesiredSubscription,
  ): Promise<CreatedSubscription> {
    const channel = formatChannelName(account);
    const channelId = await findOrCreate(session, CHANNELS, channel, {
      FullName: `${channel}__chn`,
      Metadata: { channelType: 'data', label: `Integration gateway ${account}` },
    });
    const member = `${channel}_${objectName.replaceAll('__', '_')}`;
    const memberId = await findOrCreate(session, MEMBERS, member, {
      FullName: member,
      Metadata: { eventChannel: `${channel}__chn`, selectedEntity: toEventName(objectName) },
    });
    return { providerRef: channelId + SEPARATOR + memberId, expireTime: null };
  },

  async renew(session, providerRef) {
    const { memberId } = parseProviderRef(providerRef);
    const path = paths.toolingRecord(MEMBERS, memberId);
    const response = await session.send({ method: 'GET', path });
    if (response.status === NOT_FOUND) return null;
    requireSuccess(response);
    return { providerRef, expireTime: null };
  },

  async delete(session, providerRef) {
    const { channelId, memberId } = parseProviderRef(providerRef);
    await deleteRow(session, MEMBERS, memberId);
    const otherMembers = await listIds(
      session,
      `SELECT Id FROM ${MEMBERS} WHERE EventChannel = '${channelId}'`,
    );
    if (otherMembers.length === 0) await deleteRow(session, CHANNELS, channelId);
  },
};

/** Returns the topic of the connection's stream. */
function formatTopicName(account: string): string {
  return `/data/${formatChannelName(account)}__chn`;
}

/** Returns the name of the account's channel. It omits the id's prefix, because names are short. */
function formatChannelName(account: string): string {
  return `Gateway_${account.replace(/^.*_/, '')}`;
}

/** Returns the name of the object's change event: ContactChangeEvent for `Contact`, Car__ChangeEvent for `Car__c`. */
function toEventName(objectName: string): string {
  const name = checkObjectName(objectName);
  return name.endsWith('__c') ? name.replace(/c$/, 'ChangeEvent') : `${name}ChangeEvent`;
}

const providerRefSchema = z.string().regex(/^\w{15,18}\/\w{15,18}$/);

function parseProviderRef(providerRef: string): { channelId: string; memberId: string } {
  const [channelId = '', memberId = ''] = providerRefSchema.parse(providerRef).split(SEPARATOR);
  return { channelId, memberId };
}

/**
 * Returns the id of the row with a unique name. Creates the row if it does not exist. If another process creates it
 * concurrently, returns the id of that row.
 */
async function findOrCreate(
  session: ProviderSession,
  object: ToolingObject,
  name: string,
  body: object,
): Promise<string> {
  const findId = async () =>
    (await listIds(session, `SELECT Id FROM ${object} WHERE DeveloperName = '${name}'`))[0];
  const existingId = await findId();
  if (existingId !== undefined) return existingId;
  const response = await session.send({ method: 'POST', path: paths.tooling(object), body });
  if (isSuccess(response)) return parseResponse(createResponse, response, 'WRITE').id;
  const error = createFailure(response);
  const concurrentId = error.isTemporary ? undefined : await findId();
  if (concurrentId !== undefined) return concurrentId;
  throw error;
}

async function listIds(session: ProviderSession, soql: string): Promise<string[]> {
  const response = await session.send({
    method: 'GET',
    path: paths.toolingQuery,
    query: { q: soql },
  });
  const { records } = parseResponse(queryResponse, requireSuccess(response), 'READ');
  return records.map(({ Id }) => Id);
}

async function deleteRow(
  session: ProviderSession,
  object: ToolingObject,
  id: string,
): Promise<void> {
  const response = await session.send({ method: 'DELETE', path: paths.toolingRecord(object, id) });
  if (response.status !== NOT_FOUND) requireSuccess(response);
}
