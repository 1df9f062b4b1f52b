/** Follows the changes of an object's records for typed APIs. They are messages of the stream that receives them. */
import type { Row } from '../../../database/statements/tables.ts';
import type { LogItem } from '../../../events/feed-source.ts';
import type { StreamedMessage } from '../../../events/stream-log.ts';
import { type DomainError, notFound, unprocessable } from '../../../kernel/errors.ts';
import { enumValue, text } from '../../../kernel/text.ts';
import { load } from '../../access/batched.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { byId, listVisibleRows } from '../../access/scope.ts';
import { authorize } from '../../access/viewer/needs.ts';
import { followStreamMessages } from '../../events/stream/stream-subscription.ts';
import type { ConfigContent } from '../../integrations/installation/installation-config.ts';
import { findLatestContent } from '../../integrations/integration/content-cache.ts';
import type { IntegrationContent } from '../../integrations/integration/integration-content.ts';
import { findProviderObject } from '../contract/object-contract.ts';
import { listVisibleIntegrations } from '../contract/visible-contract.ts';
import { getServingInstallation, type ObjectOfGroup } from './object-installation.ts';

export type RecordChangeItem = LogItem<StreamedMessage>;

/** The actions of messages with records. A stream may have other messages too. */
const RECORD_ACTIONS = ['read', 'subscribe'];

/** The members of a message that a typed API shows. `recordsMessage` and `eventsMessage` describe them. */
interface RecordChangeMessage {
  action: string;
  mappedObjectName: string;
  provider: string;
  groupRef: string;
  installationId: string;
  result: readonly RecordChangeEntry[];
}

/** An entry of a read or of an event. Only entries of events have the last two members. */
export interface RecordChangeEntry {
  /** Absent in events that concern no record, and in messages of versions before 1.0. */
  id?: string;
  fields?: Record<string, unknown>;
  mappedFields?: Record<string, unknown>;
  raw?: Record<string, unknown>;
  subscribeEventType?: string;
  fieldsUpdated?: readonly string[];
}

/**
 * Yields the messages with the object's records after the cursor, then each new message, without gaps or repetitions.
 * Yields messages of all groups if `groupRef` is null. Throws UNPROCESSABLE unless exactly one stream receives them.
 */
export async function followRecordChanges(
  call: Call,
  object: ObjectOfGroup,
  after: string | null | undefined,
): Promise<AsyncIterableIterator<RecordChangeItem>> {
  authorize(call.viewer, followStreamMessages.needs);
  const { id: destinationId } = await getStream(call, object);
  const { objectName, groupRef } = object;
  const items = await followStreamMessages(call, { destinationId, after: after ?? null });
  return filterItems(items[Symbol.asyncIterator](), (item) => {
    const message = readMessage(item);
    return (
      RECORD_ACTIONS.includes(message.action) &&
      message.mappedObjectName === objectName &&
      (groupRef === null || message.groupRef === groupRef)
    );
  });
}

/** Returns the message of an item, which is parsed once for all followers. */
export function readMessage(item: RecordChangeItem): RecordChangeMessage {
  return item.computeOnce('message', ({ node }) => JSON.parse(node.body) as RecordChangeMessage);
}

/** Filters items. It is not a generator, because `return()` must end a `next()` that waits for an item. */
function filterItems<T>(
  items: AsyncIterator<T>,
  isWanted: (item: T) => boolean,
): AsyncIterableIterator<T> {
  return {
    async next() {
      for (;;) {
        const result = await items.next();
        if (result.done || isWanted(result.value)) return result;
      }
    },
    async return() {
      await items.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns the stream that receives the object's records. */
async function getStream(call: Call, object: ObjectOfGroup): Promise<Row<'Destination'>> {
  const { projectId, objectName, groupRef } = object;
  const sources =
    groupRef === null
      ? await listSources(call, object)
      : [await getServingInstallation(call, object)];
  const nameLists = sources.map(listDestinationNames);
  const streams = await listVisibleRows(call, 'Destination', {
    projectId,
    name: [...new Set(nameLists.flat())],
    type: 'STREAM',
  });
  const streamsByName = new Map(streams.map((stream) => [stream.name, stream]));
  const streamsOfSources = nameLists.flatMap((names) =>
    names.flatMap((name) => streamsByName.get(name) ?? []).slice(0, 1),
  );
  const [stream, otherStream] = new Set(streamsOfSources);
  if (!stream) throw createNoStreamError(objectName);
  if (otherStream) throw createSeveralStreamsError(objectName, [stream, otherStream]);
  return stream;
}

interface MessageSource {
  content: IntegrationContent;
  /** Absent for the integration itself. */
  config?: ConfigContent;
  /** The provider's name of the object. */
  providerObject: string;
}

/** Lists the contents of the integrations that have the object. */
async function listSources(
  call: RowCall,
  { projectId, objectName }: ObjectOfGroup,
): Promise<MessageSource[]> {
  const integrations = await listVisibleIntegrations(call, projectId);
  const contents = await Promise.all(
    integrations.map((integration) => findLatestContent(call.database, integration)),
  );
  const sources = contents.flatMap((content): MessageSource[] => {
    const providerObject = content && findProviderObject(content, objectName);
    return content && providerObject != null ? [{ content, providerObject }] : [];
  });
  if (sources.length === 0) throw notFound('Object', objectName);
  return sources;
}

/** Lists the destination of the object's events, then the destination of its reads. */
function listDestinationNames({ content, config, providerObject }: MessageSource): string[] {
  const isObject = (object: { objectName: string }) => object.objectName === providerObject;
  const readObject = content.read?.objects.find(isObject);
  const subscribeObject = content.subscribe?.objects.find(isObject);
  const readDestination = config?.read.find(isObject)?.destination ?? readObject?.destination;
  const configDestination = config?.subscribe?.find(isObject)?.destination;
  const eventDestination =
    subscribeObject && (configDestination ?? subscribeObject.destination ?? readDestination);
  return [eventDestination, readDestination].flatMap((name) => name ?? []);
}

function createNoStreamError(objectName: string): DomainError {
  return unprocessable(
    text`No stream receives the records of ${objectName}. Create a destination of the type ${enumValue('STREAM', 'DestinationType')}, and name it as the destination of the object in the manifest.`,
  );
}

function createSeveralStreamsError(
  objectName: string,
  streams: readonly Row<'Destination'>[],
): DomainError {
  const names = streams.map(({ name }) => name).join(' and ');
  return unprocessable(
    `The streams ${names} receive records of ${objectName}. Pass the group whose changes you want, or set one destination in all integrations.`,
  );
}

/** Returns the name of a message's integration. Null if the installation was deleted in the meantime. */
export async function findIntegrationName(
  call: Call,
  { installationId }: Pick<RecordChangeMessage, 'installationId'>,
): Promise<string | null> {
  const installation = await load(call, byId('Installation'), installationId);
  const integration =
    installation && (await load(call, byId('Integration'), installation.integrationId));
  return integration?.name ?? null;
}
