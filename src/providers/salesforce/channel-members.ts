/**
 * What Salesforce is to tell of: members of a channel that each connection has for itself, made by the Tooling API.
 * So neither the org's own selections nor those of another connection to it are touched. A member serves all
 * installations of the connection.
 */
import { z } from 'zod';
import type { ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, responseBody } from '../read-responses.ts';
import type {
  CreatedSubscription,
  DesiredSubscription,
  SubscriptionCalls,
} from '../subscribing.ts';
import { objectApiName } from './object-names.ts';
import { paths } from './paths.ts';
import { failure } from './refused.ts';
import { createResponse, queryResponse } from './wire.ts';

const NOT_FOUND = 404;
const SEPARATOR = '/';

export const calls: SubscriptionCalls = {
  areShared: true,

  async setUp(session, { account, objectName }: DesiredSubscription): Promise<CreatedSubscription> {
    const channel = channelName(account);
    const channelId = await findOrCreate(session, CHANNELS, channel, {
      FullName: `${channel}__chn`,
      Metadata: { channelType: 'data', label: `Integration gateway ${account}` },
    });
    const member = `${channel}_${objectName.replaceAll('__', '_')}`;
    const memberId = await findOrCreate(session, MEMBERS, member, {
      FullName: member,
      Metadata: { eventChannel: `${channel}__chn`, selectedEntity: entityName(objectName) },
    });
    return { providerRef: channelId + SEPARATOR + memberId, expireTime: null };
  },

  async renew(session, providerRef) {
    const { memberId } = partsOf(providerRef);
    const path = paths.toolingRecord(MEMBERS, memberId);
    const response = await session.send({ method: 'GET', path });
    if (response.status === NOT_FOUND) return null;
    if (!isSuccess(response)) throw failure(response);
    return { providerRef, expireTime: null };
  },

  async takeDown(session, providerRef) {
    const { channelId, memberId } = partsOf(providerRef);
    await remove(session, MEMBERS, memberId);
    const others = await query(
      session,
      `SELECT Id FROM ${MEMBERS} WHERE EventChannel = '${channelId}'`,
    );
    if (others.length === 0) await remove(session, CHANNELS, channelId);
  },
};

const CHANNELS = 'PlatformEventChannel';
const MEMBERS = 'PlatformEventChannelMember';

/** The topic that the connection's stream is of. */
export function topicName(account: string): string {
  return `/data/${channelName(account)}__chn`;
}

/** An id without its prefix: names are letters and digits, and not long. */
function channelName(account: string): string {
  return `Gateway_${account.replace(/^.*_/, '')}`;
}

/** `Contact` is told of by ContactChangeEvent, `Car__c` by Car__ChangeEvent. */
function entityName(objectName: string): string {
  const name = objectApiName(objectName);
  return name.endsWith('__c') ? name.replace(/c$/, 'ChangeEvent') : `${name}ChangeEvent`;
}

function partsOf(providerRef: string): { channelId: string; memberId: string } {
  const [channelId = '', memberId = ''] = refSchema.parse(providerRef).split(SEPARATOR);
  return { channelId, memberId };
}
const refSchema = z.string().regex(/^\w{15,18}\/\w{15,18}$/);

type Kind = typeof CHANNELS | typeof MEMBERS;

/** Names are unique: of two that create it at once, one finds what the other has created. */
async function findOrCreate(
  session: ProviderSession,
  kind: Kind,
  name: string,
  body: object,
): Promise<string> {
  const find = async () =>
    (await query(session, `SELECT Id FROM ${kind} WHERE DeveloperName = '${name}'`))[0];
  const known = await find();
  if (known !== undefined) return known;
  const response = await session.send({ method: 'POST', path: paths.tooling(kind), body });
  if (isSuccess(response)) return responseBody(createResponse, response, 'WRITE').id;
  const error = failure(response);
  const other = error instanceof ProviderError && !error.passesLater ? await find() : undefined;
  if (other !== undefined) return other;
  throw error;
}

async function query(session: ProviderSession, q: string): Promise<string[]> {
  const response = await session.send({ method: 'GET', path: paths.toolingQuery, query: { q } });
  if (!isSuccess(response)) throw failure(response);
  return responseBody(queryResponse, response, 'READ').records.map(({ Id }) => Id);
}

async function remove(session: ProviderSession, kind: Kind, id: string): Promise<void> {
  const response = await session.send({ method: 'DELETE', path: paths.toolingRecord(kind, id) });
  if (!isSuccess(response) && response.status !== NOT_FOUND) throw failure(response);
}
