/**
 * The types of notification events, with their wire names and payloads. Tests compare the GraphQL enum, the database's
 * enum and the documents with this list. `meta({ field })` sets the GraphQL name of a member whose wire name differs
 * from the API's vocabulary.
 */
import { z } from 'zod';
import type { NotificationEventType } from '../database/generated/enums.ts';

const nonEmptyString = z.string().min(1);
/** The id of a row. Its member is named after the row, like `connectionId`. */
const idString = nonEmptyString.meta({ graphql: 'ID' });
const config = z.record(z.string(), z.unknown()).describe("The installation's config.");
const error = z.string().describe('The human-readable reason for the failure.');

const connectionFields = {
  projectId: idString.describe('The id of the project.'),
  provider: nonEmptyString.describe('The name of the provider.'),
  groupRef: nonEmptyString.describe("The builder's reference for the group."),
  connectionId: idString.describe('The id of the connection.'),
  consumerRef: nonEmptyString.describe("The builder's reference for the connection's consumer."),
  consumerName: nonEmptyString.describe("The consumer's name."),
};

const connection = z.object(connectionFields);

const installation = z.object({
  ...connectionFields,
  integrationId: idString.describe('The id of the integration.'),
  integrationName: nonEmptyString.describe("The integration's name."),
  installationId: idString.describe('The id of the installation.'),
  groupName: nonEmptyString.describe("The group's name."),
});

/** An object of the provider. Each message with its records has the last two members as well. */
const object = {
  objectName: nonEmptyString.describe("The object, by the provider's name."),
  rawObjectName: nonEmptyString.describe("The provider's name of the object."),
  mappedObjectName: nonEmptyString.describe(
    "The mapped name of the object, or the provider's if there is none.",
  ),
};
const timestamp = z.iso.datetime().meta({ graphql: 'DateTime' });
const triggeredRead = installation.extend({
  ...object,
  fromTimestamp: timestamp.optional().meta({
    field: 'sinceTime',
    description:
      'The start of the range of change times that was read. Omitted if the request has none.',
  }),
  untilTimestamp: timestamp.optional().meta({
    field: 'untilTime',
    description:
      'The end of the range of change times that was read. Omitted if the request has none.',
  }),
});

const destination = z.object({
  projectId: connectionFields.projectId,
  destinationId: idString.describe('The id of the destination.'),
  destinationName: nonEmptyString.describe("The destination's name."),
  url: nonEmptyString.describe('The URL to which its messages were posted.'),
});

/** A proposal without the values of the record. */
const proposal = installation.extend({
  proposalId: idString.describe('The id of the proposal.'),
  agentSessionId: idString
    .optional()
    .describe('The id of the agent session that made it. Omitted for other callers.'),
  objectName: nonEmptyString.describe("The object, by the builder's name."),
  type: nonEmptyString.describe('The type of the write: `create`, `update` or `delete`.'),
  recordId: nonEmptyString
    .optional()
    .describe("The provider's id of the record. Omitted for a creation."),
  createdBy: nonEmptyString.describe(
    'The principal that created the proposal, like `agent:<session id>`.',
  ),
});
const decidedProposal = proposal.extend({
  decidedBy: nonEmptyString.describe(
    'The principal or the rule that decided, like `consumer:<id>`.',
  ),
});

/** Members that several types of events have in common. The documentation names them once. */
export const EVENT_PARTS = { installation, connection, destination } as const;

/** The members of payloads, by event type. */
export const EVENTS = {
  READ_BACKFILL_DONE: {
    wireName: 'read.backfill.done',
    happened: "The first read of an installation's object has finished.",
    data: installation.extend(object),
  },
  READ_SCHEDULE_PAUSED: {
    wireName: 'read.schedule.paused',
    happened: 'Scheduled reads of an object were paused after repeated failures.',
    data: installation.extend({ config, ...object, error }),
  },
  READ_TRIGGERED_DONE: {
    wireName: 'read.triggered.done',
    happened: 'A triggered read has finished.',
    data: triggeredRead,
  },
  READ_TRIGGERED_ERROR: {
    wireName: 'read.triggered.error',
    happened: 'A triggered read has failed.',
    data: triggeredRead.extend({ error }),
  },
  WRITE_ASYNC_DONE: {
    wireName: 'write.async.done',
    happened:
      'An asynchronous write has ended. `success` is false if the provider refused any record.',
    data: installation.extend({
      operationId: idString.describe('The id of the write operation.'),
      ...object,
      success: z.boolean().describe('Whether every record was written.'),
      successfulRecordIds: z
        .array(z.string())
        .describe("The records that were written, by the provider's ids."),
      errors: z
        .array(z.string())
        .describe('Human-readable reasons why the other records were not written.'),
      omittedFields: z
        .array(z.string())
        .optional()
        .describe(
          'At most 200 distinct names, each cut at 256 characters: names in the input that were not written, because the integration does not have them, or the installation does not map or write them. Absent if there are none.',
        ),
    }),
  },
  CONNECTION_CREATED: {
    wireName: 'connection.created',
    happened: 'A connection was created.',
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
    happened:
      "The provider rejected a connection's credentials, or its custom provider got other addresses.",
    data: connection.extend({
      errors: z
        .array(z.string())
        .describe("The provider's error messages, or why the account must be connected again."),
    }),
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
    data: installation.extend({
      config,
      lastConfig: config.describe('The config before the change.'),
    }),
  },
  INSTALLATION_DELETED: {
    wireName: 'installation.deleted',
    happened: 'An installation was deleted.',
    data: installation.extend({ config }),
  },
  SUBSCRIBE_CREATE_ERROR: {
    wireName: 'subscribe.create.error',
    happened: "An installation's subscription at the provider could not be set up.",
    data: installation.extend({ error }),
  },
  DESTINATION_WEBHOOK_DISABLED: {
    wireName: 'destination.webhook.disabled',
    happened: 'A webhook destination was disabled after failing for too long.',
    data: destination,
  },
  DESTINATION_WEBHOOK_FAILING: {
    wireName: 'destination.webhook.failing',
    happened:
      'A webhook destination has failed for an hour. The event is not repeated until the destination has worked again.',
    data: destination.extend({
      failingSince: timestamp.meta({
        field: 'firstFailureTime',
        description: 'When the first of the failed attempts was made.',
      }),
      failedAttempts: z.int().describe('The number of attempts that have failed since then.'),
    }),
  },
  DELIVERY_FAILED: {
    wireName: 'delivery.failed',
    happened:
      'A delivery failed permanently. A failed delivery of this event, or of an event about a destination, causes no further event.',
    data: destination.extend({
      deliveryId: idString.describe('The id of the delivery.'),
      operationId: idString
        .optional()
        .describe(
          'The id of the read whose records the delivery carried. Omitted if it carried an event.',
        ),
      attempts: z.int().describe('The number of attempts that were made.'),
      error: z.string().describe('The human-readable reason why the last attempt failed.'),
    }),
  },
  PROPOSAL_CREATED: {
    wireName: 'proposal.created',
    happened:
      'An agent proposed a write. If a rule approves it, `proposal.approved` follows immediately.',
    data: proposal,
  },
  PROPOSAL_APPROVED: {
    wireName: 'proposal.approved',
    happened: 'A person or a rule approved a proposal.',
    data: decidedProposal,
  },
  PROPOSAL_REJECTED: {
    wireName: 'proposal.rejected',
    happened: 'A person rejected a proposal.',
    data: decidedProposal,
  },
  PROPOSAL_COMMITTED: {
    wireName: 'proposal.committed',
    happened: 'The write of a proposal has ended. Its operation has the outcome.',
    data: proposal.extend({
      operationId: idString.describe('The id of the write operation.'),
      success: z.boolean().describe('Whether the record was written.'),
    }),
  },
  PROPOSAL_EXPIRED: {
    wireName: 'proposal.expired',
    happened: 'A proposal was not committed in time.',
    data: proposal,
  },
  PROPOSAL_STALE: {
    wireName: 'proposal.stale',
    happened: 'The record of a proposal had changed before the commit, so nothing was written.',
    data: proposal,
  },
  SETUP_FAILED: {
    wireName: 'setup.failed',
    happened:
      "A mistake in the project's setup kept a customer from connecting an account or installing an integration. There is at most one event an hour for each provider.",
    data: z.object({
      projectId: connectionFields.projectId,
      provider: connectionFields.provider,
      groupRef: connectionFields.groupRef
        .optional()
        .describe(
          "The builder's reference for the customer's group. Omitted if the group or the consumer is new.",
        ),
      consumerRef: connectionFields.consumerRef
        .optional()
        .describe(
          "The builder's reference for the customer's consumer. Omitted if the group or the consumer is new.",
        ),
      error: z.string().describe('A human-readable description of what is wrong with the setup.'),
    }),
  },
} as const satisfies Record<
  NotificationEventType,
  { wireName: string; happened: string; data: z.ZodObject }
>;

export type EventData<T extends NotificationEventType> = z.input<(typeof EVENTS)[T]['data']>;
