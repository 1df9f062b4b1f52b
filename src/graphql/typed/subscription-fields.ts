/** The subscriptions of a typed API: the changes of each object's records. They resume by cursor. */
import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { toMemberName } from '../../domain/data/contract/formats/safe-names.ts';
import {
  findIntegrationName,
  followRecordChanges,
  type RecordChangeEntry,
  type RecordChangeItem,
  readMessage,
} from '../../domain/data/operation/record-changes.ts';
import { followStreamMessages } from '../../domain/events/stream/stream-subscription.ts';
import type { OperationContext } from '../execution/operation-context.ts';
import type { ShownRecord } from './object-types.ts';
import {
  describeRootField,
  type RootFields,
  type TypedObject,
  toObjectOfGroup,
} from './root-field.ts';
import { DateTimeType, type RecordInstallation, RecordInstallationType } from './shared-types.ts';

const CHANGES_DESCRIPTION =
  "The changes of records in customers' accounts, as messages of the stream that receives them. Yields the stored messages after the cursor `after`, then each new message. No message is missed or repeated. Without `after`, yields new messages only.";

const EVENT_KINDS = {
  READ: 'A read of the object found the record: it is new, or has changed since the last read.',
  CREATE: 'The provider reported a new record.',
  UPDATE: 'The provider reported a changed record.',
  DELETE: 'The provider reported a deleted record.',
  ASSOCIATION_UPDATE: 'The provider reported a changed association of the record.',
  OTHER: 'The provider reported another event.',
};

const RecordEventKindType = new GraphQLEnumType({
  name: 'RecordEventKind',
  description: 'How the gateway learned of a change.',
  values: Object.fromEntries(
    Object.entries(EVENT_KINDS).map(([name, description]) => [name, { description }]),
  ),
});

export function createSubscriptionFields(typedObjects: readonly TypedObject[]): RootFields {
  const streamedObjects = typedObjects.filter(({ object }) => object.verbs.includes('LIST'));
  return Object.fromEntries(
    streamedObjects.map((typedObject) => [
      `${toMemberName(typedObject.object.name)}Changed`,
      createField(typedObject),
    ]),
  );
}

function createField(typedObject: TypedObject): RootFields[string] {
  const { object } = typedObject;
  return {
    ...describeRootField(followStreamMessages, {
      providerCalls: 0,
      needsGroup: false,
      description: CHANGES_DESCRIPTION,
    }),
    type: new GraphQLNonNull(createChangesType(typedObject)),
    args: {
      group: {
        type: GraphQLID,
        description: 'Only changes of the group with this ref. Default: all groups.',
      },
      after: {
        type: GraphQLString,
        description: 'The cursor of the last message that the client received.',
      },
    },
    // A client that reconnects sends the same operation. Its Last-Event-ID header has the last cursor.
    subscribe: (_root, { group, after }, context) =>
      followRecordChanges(
        context.call,
        toObjectOfGroup(context, object, group),
        context.lastEventId ?? after,
      ),
    resolve: (item) => item,
  };
}

function createChangesType(
  typedObject: TypedObject,
): GraphQLObjectType<RecordChangeItem, OperationContext> {
  return new GraphQLObjectType<RecordChangeItem, OperationContext>({
    name: typedObject.object.types.changes,
    description: 'A message with changes of records of one installation.',
    fields: {
      cursor: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Pass it as after to continue from here.',
      },
      messageId: {
        type: new GraphQLNonNull(GraphQLID),
        description: 'The id of the message, which is the same for each reader.',
        resolve: ({ node }) => node.id,
      },
      createTime: {
        type: new GraphQLNonNull(DateTimeType),
        description: 'When the message was added to the stream.',
        resolve: ({ node }) => node.createTime.toISOString(),
      },
      installation: {
        type: new GraphQLNonNull(RecordInstallationType),
        description: 'The installation whose records changed.',
        resolve: toInstallation,
      },
      changes: {
        type: new GraphQLNonNull(
          new GraphQLList(new GraphQLNonNull(createChangeType(typedObject))),
        ),
        description: 'The changes in their order.',
        resolve: (item): Change[] => {
          const installation = toInstallation(item);
          return readMessage(item).result.map((entry) => ({ entry, installation }));
        },
      },
    },
  });
}

interface Change {
  entry: RecordChangeEntry;
  installation: RecordInstallation;
}

function createChangeType({ object, types }: TypedObject): GraphQLObjectType<Change> {
  return new GraphQLObjectType<Change>({
    name: object.types.change,
    description: 'A change of a record.',
    fields: {
      kind: {
        type: new GraphQLNonNull(RecordEventKindType),
        description: 'How the gateway learned of the change.',
        resolve: ({ entry }) => toEventKind(entry.subscribeEventType),
      },
      id: {
        type: GraphQLID,
        description: "The provider's id of the record. Null if the event concerns no record.",
        resolve: ({ entry }) => entry.id,
      },
      record: {
        type: types.record,
        description:
          'The record when the message was created. Null for a deleted record, and for events without one.',
        resolve: toShownRecord,
      },
      fieldsUpdated: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
        description: "The changed fields by the provider's names. Null if they are unknown.",
        resolve: ({ entry }) => entry.fieldsUpdated,
      },
    },
  });
}

/** Returns the kind of a message's entry. Entries of reads have no type. */
function toEventKind(type: string | undefined): string {
  if (type === undefined) return 'READ';
  const name = type.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return Object.hasOwn(EVENT_KINDS, name) ? name : 'OTHER';
}

function toShownRecord({ entry, installation }: Change): ShownRecord | null {
  const { id, fields, mappedFields = {}, raw = {} } = entry;
  return id !== undefined && fields
    ? { record: { id, fields, mappedFields, raw }, installation }
    : null;
}

function toInstallation(item: RecordChangeItem): RecordInstallation {
  const message = readMessage(item);
  const { installationId: id, groupRef, provider } = message;
  return { id, groupRef, provider, integration: ({ call }) => findIntegrationName(call, message) };
}
