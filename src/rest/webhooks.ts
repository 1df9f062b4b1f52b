/** Describes the messages to destinations as webhooks of the OpenAPI document. */
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { recordsMessage } from '../domain/data/operation/read/read-message.ts';
import { eventsMessage } from '../domain/data/provider-event/event-message.ts';
import { schemaMessage } from '../domain/data/schema-watch/schema-difference.ts';
import { TEST_MESSAGE_TYPE, testMessage } from '../domain/events/test-message.ts';
import { EVENTS } from '../events/event-types.ts';

type Webhooks = NonNullable<OpenAPIV3_1.Document['webhooks']>;

interface Message {
  id: string;
  tag: string;
  summary: string;
  description: string;
  body: z.ZodObject;
}

/** Returns the webhooks by the type of the event, or by the kind of the message. */
export function createWebhooks(): Webhooks {
  const events = Object.values(EVENTS).map(
    (event) => [event.wireName, createEventMessage(event)] as const,
  );
  const otherMessages = [RECORDS_MESSAGE, CHANGES_MESSAGE, FIELDS_MESSAGE].map(
    (message) => [message.id, message] as const,
  );
  const messages = [...events, ...otherMessages, [TEST_MESSAGE_TYPE, TEST_MESSAGE] as const];
  const entries = messages.map(([name, message]) => [name, { post: createOperation(message) }]);
  return Object.fromEntries(entries);
}

type Event = (typeof EVENTS)[keyof typeof EVENTS];

function createEventMessage({ wireName, happened, data }: Event): Message {
  return {
    id: wireName.replace(/\.(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    tag: 'Events',
    summary: `Sends an event: ${wireName}.`,
    description: happened,
    body: z.object({
      notificationType: z.literal(wireName).describe('The type of the event.'),
      data: data.describe('The object of the event, and its state.'),
    }),
  };
}

const RECORDS_MESSAGE: Message = {
  id: 'records',
  tag: 'Reads',
  summary: 'Sends records of a read.',
  description:
    'The records of a page, or some of them if the page exceeds 300,000 bytes. The message goes to the destination that the integration names for the object. A page without records sends no message.',
  body: recordsMessage,
};

const CHANGES_MESSAGE: Message = {
  id: 'changes',
  tag: 'Reads',
  summary: 'Sends changes that a provider has reported.',
  description:
    'Events of records that the integration subscribes to. The message goes to the destination that the integration names for the object. Messages about one record come in the order of its changes.',
  body: eventsMessage,
};

const FIELDS_MESSAGE: Message = {
  id: 'fields',
  tag: 'Reads',
  summary: 'Sends changed fields of an object.',
  description:
    'The fields of an object that were added, removed or changed since the previous poll. The message goes to the destination of `watchSchema`. The first poll of an account sends no message.',
  body: schemaMessage,
};

const TEST_MESSAGE: Message = {
  id: 'testMessage',
  tag: 'Deliveries',
  summary: 'Sends a test message.',
  description: 'The message of `sendTestMessage`. It shows that the destination can be reached.',
  body: testMessage,
};

const DELIVERY_RULES =
  'A 2xx status within 15 seconds is a success. Redirects are not followed. A message may arrive more than once, with the same webhook-id, and messages may arrive out of order. The request also has the headers of the destination.';

function createOperation({
  id,
  tag,
  summary,
  description,
  body,
}: Message): OpenAPIV3_1.OperationObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(body, {
    override({ jsonSchema }) {
      // Metadata for GraphQL.
      delete jsonSchema.graphql;
      delete jsonSchema.field;
    },
  });
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description} ${DELIVERY_RULES}`,
    security: [],
    parameters: MESSAGE_HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schema as OpenAPIV3_1.SchemaObject } },
    },
    responses: RESPONSES,
  };
}

/** The headers of Standard Webhooks 1.0. */
const MESSAGE_HEADERS: OpenAPIV3_1.ParameterObject[] = [
  createHeader('webhook-id', 'The id of the message, which is the same in all its attempts.', {
    minLength: 1,
  }),
  createHeader('webhook-timestamp', 'When this attempt was made, in Unix seconds.', {
    pattern: '^[0-9]+$',
  }),
  createHeader(
    'webhook-signature',
    `\`v1,\` and the base64 of an HMAC-SHA256 of \`{webhook-id}.{webhook-timestamp}.{body}\`. The key is the base64 after \`whsec_\` in the destination's secret. For 24 hours after a rotation, there are two signatures with a space between them.`,
    { pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
  ),
];

function createHeader(
  name: string,
  description: string,
  rule: { minLength: number } | { pattern: string },
): OpenAPIV3_1.ParameterObject {
  return { in: 'header', name, required: true, description, schema: { type: 'string', ...rule } };
}

const RETRIED_RESPONSE: OpenAPIV3_1.ResponseObject = {
  description:
    'The message is retried after its own delay, or after `Retry-After` (at most an hour) if that is longer.',
};

const RESPONSES: OpenAPIV3_1.ResponsesObject = {
  '2XX': { description: 'The message was received and is not retried.' },
  '410': {
    description: 'The destination accepts no further messages and is disabled immediately.',
  },
  '4XX': RETRIED_RESPONSE,
  '5XX': RETRIED_RESPONSE,
};
