/** The messages to destinations, as webhooks of the OpenAPI document: an event of each type, records, and changes. */
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { TEST_MESSAGE_TYPE, testMessage } from '../domain/event/test-message.ts';
import { recordsMessage } from '../domain/operation/read/read-message.ts';
import { eventsMessage } from '../domain/provider-event/event-message.ts';
import { schemaMessage } from '../domain/schema-watch/schema-message.ts';
import { EVENTS } from '../events/event-types.ts';

type Webhooks = NonNullable<OpenAPIV3_1.Document['webhooks']>;

interface Message {
  id: string;
  tag: string;
  summary: string;
  description: string;
  body: z.ZodObject;
}

/** Keyed by kind: the name of the event's type, or of the message of an installation. */
export function webhooks(): Webhooks {
  const events = Object.values(EVENTS).map(
    (event) => [event.wireName, eventMessage(event)] as const,
  );
  const others = [RECORDS, CHANGES, FIELDS].map((message) => [message.id, message] as const);
  const messages = [...events, ...others, [TEST_MESSAGE_TYPE, TEST] as const];
  const requests = messages.map(([name, message]) => [name, { post: request(message) }]);
  return Object.fromEntries(requests);
}

type Event = (typeof EVENTS)[keyof typeof EVENTS];

function eventMessage({ wireName, happened, data }: Event): Message {
  return {
    id: wireName.replace(/\.(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    tag: 'Events',
    summary: `Sends an event: ${wireName}.`,
    description: happened,
    body: z.object({
      notificationType: z.literal(wireName).describe('The type of the event.'),
      data: data.describe('What happened, and to what.'),
    }),
  };
}

const RECORDS: Message = {
  id: 'records',
  tag: 'Reads',
  summary: 'Sends records of a read.',
  description: `A page of a read, or a part of it if the page is over 300,000 bytes. It goes to the destination
that the integration names for the object. A page without records sends nothing.`,
  body: recordsMessage,
};

const CHANGES: Message = {
  id: 'changes',
  tag: 'Reads',
  summary: 'Sends changes that a provider has told.',
  description: `What happened to records that the integration subscribes to. It goes to the destination that the
integration names for the object. Messages about one record come in the order of its changes.`,
  body: eventsMessage,
};

const FIELDS: Message = {
  id: 'fields',
  tag: 'Reads',
  summary: 'Sends changed fields of an object.',
  description: `What has changed since the look before, of an object that the integration names. It goes to the
destination of \`watchSchema\`. The first look at an account tells nothing.`,
  body: schemaMessage,
};

const TEST: Message = {
  id: 'testMessage',
  tag: 'Deliveries',
  summary: 'Sends a test.',
  description: 'What `sendTestMessage` sends. It tells that the destination can be reached.',
  body: testMessage,
};

const SENDING = `Any 2xx within 15 seconds is a success; redirects are not followed. The same message may come more
than once, with the same webhook-id, and messages may come in another order. The headers that the destination has
are sent too.`;

function request({ id, tag, summary, description, body }: Message): OpenAPIV3_1.OperationObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(body, {
    override({ jsonSchema }) {
      // Names a scalar of GraphQL, which OpenAPI does not have.
      delete jsonSchema.graphql;
      delete jsonSchema.field;
    },
  });
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description} ${SENDING}`,
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schema as OpenAPIV3_1.SchemaObject } },
    },
    responses: RESPONSES,
  };
}

/** Standard Webhooks 1.0. */
const HEADERS: OpenAPIV3_1.ParameterObject[] = [
  header('webhook-id', 'The id of the message: the same in all its attempts.', { minLength: 1 }),
  header('webhook-timestamp', 'When this attempt was made, in seconds since 1970.', {
    pattern: '^[0-9]+$',
  }),
  header(
    'webhook-signature',
    `\`v1,\` and the base64 of an HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`, whose key is the
base64 after \`whsec_\` of the destination's secret. For a day after a rotation there are two, with a space between.`,
    { pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
  ),
];

function header(
  name: string,
  description: string,
  rule: { minLength: number } | { pattern: string },
): OpenAPIV3_1.ParameterObject {
  return { in: 'header', name, required: true, description, schema: { type: 'string', ...rule } };
}

const RESPONSES: OpenAPIV3_1.ResponsesObject = {
  '2XX': { description: 'The message has arrived and is not sent again.' },
  '410': { description: 'The destination wants no more messages: it is disabled at once.' },
  '4XX': {
    description:
      'The message is sent again later: after the time that `Retry-After` tells, at most an hour, if that is longer than its own delay.',
  },
  '5XX': {
    description:
      'The message is sent again later: after the time that `Retry-After` tells, at most an hour, if that is longer than its own delay.',
  },
};
