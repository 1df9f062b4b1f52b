/**
 * The notification events: the single list of types, wire names and payloads. The GraphQL enum, the
 * database's enum, the payload checks and the documents are held to it.
 */
import { z } from 'zod';
import type { NotificationEventType } from '../database/generated/enums.ts';

const text = z.string().min(1);
const config = z.record(z.string(), z.unknown());

const installation = z.object({
  projectId: text,
  provider: text,
  integrationId: text,
  integrationName: text,
  installationId: text,
  groupRef: text,
  groupName: text,
  connectionId: text,
  consumerRef: text,
  consumerName: text,
});

const connection = z.object({
  projectId: text,
  connectionId: text,
  provider: text,
  groupRef: text,
  consumerRef: text,
  consumerName: text,
});

const timestamp = z.iso.datetime();
const triggeredRead = installation.extend({
  objectName: text,
  fromTimestamp: timestamp.optional(),
  untilTimestamp: timestamp.optional(),
});

/** What a payload may hold, by event type. */
export const EVENTS = {
  READ_BACKFILL_DONE: {
    wireName: 'read.backfill.done',
    happened: "The first read of an installation's object has finished.",
    data: installation.extend({ objectName: text }),
  },
  READ_SCHEDULE_PAUSED: {
    wireName: 'read.schedule.paused',
    happened: 'Scheduled reads of an object were paused after repeated failures.',
    data: installation.extend({ config, objectName: text, error: z.string() }),
  },
  READ_TRIGGERED_DONE: {
    wireName: 'read.triggered.done',
    happened: 'A triggered read has finished.',
    data: triggeredRead,
  },
  READ_TRIGGERED_ERROR: {
    wireName: 'read.triggered.error',
    happened: 'A triggered read has failed.',
    data: triggeredRead.extend({ error: z.string() }),
  },
  WRITE_ASYNC_DONE: {
    wireName: 'write.async.done',
    happened: 'An asynchronous write has ended; success is false where any record was refused.',
    data: installation.extend({
      operationId: text,
      objectName: text,
      success: z.boolean(),
      successfulRecordIds: z.array(z.string()),
      errors: z.array(z.string()),
    }),
  },
  CONNECTION_CREATED: {
    wireName: 'connection.created',
    happened: 'A connection was made.',
    data: connection,
  },
  CONNECTION_UPDATED: {
    wireName: 'connection.updated',
    happened: 'A connection got new credentials or was changed.',
    data: connection,
  },
  CONNECTION_REFRESHED: {
    wireName: 'connection.refreshed',
    happened: "A connection's access token was refreshed.",
    data: connection,
  },
  CONNECTION_ERROR: {
    wireName: 'connection.error',
    happened: "The provider refused a connection's credentials.",
    data: connection.extend({ errors: z.array(z.string()) }),
  },
  CONNECTION_DELETED: {
    wireName: 'connection.deleted',
    happened: 'A connection was deleted.',
    data: connection,
  },
  INSTALLATION_CREATED: {
    wireName: 'installation.created',
    happened: 'An integration was installed for a group.',
    data: installation.extend({ config }),
  },
  INSTALLATION_UPDATED: {
    wireName: 'installation.updated',
    happened: "An installation's config or connection was changed.",
    data: installation.extend({ config, lastConfig: config }),
  },
  INSTALLATION_DELETED: {
    wireName: 'installation.deleted',
    happened: 'An installation was deleted.',
    data: installation.extend({ config }),
  },
  SUBSCRIBE_CREATE_ERROR: {
    wireName: 'subscribe.create.error',
    happened: "An installation's subscription at the provider could not be set up.",
    data: installation.extend({ error: z.string() }),
  },
  DESTINATION_WEBHOOK_DISABLED: {
    wireName: 'destination.webhook.disabled',
    happened: 'A webhook destination was disabled after failing for too long.',
    data: z.object({ projectId: text, destinationId: text, destinationName: text, url: text }),
  },
} as const satisfies Record<
  NotificationEventType,
  { wireName: string; happened: string; data: z.ZodObject }
>;

export type EventData<T extends NotificationEventType> = z.input<(typeof EVENTS)[T]['data']>;
