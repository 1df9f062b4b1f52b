import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { schemaWatches } from '../../src/domain/data/schema-watch/poll-schemas.ts';
import { TEST_MESSAGE_TYPE } from '../../src/domain/events/test-message.ts';
import { EVENTS, type EventData } from '../../src/events/event-types.ts';
import { recordEvent } from '../../src/events/record.ts';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
import { recordEvents } from '../support/fixtures/connections.ts';
import { CREATE_DESTINATION, createIntegrationContent } from '../support/fixtures/integrations.ts';
import { installReads, TRIGGER_READ } from '../support/fixtures/reads.ts';
import {
  ALL_EVENTS,
  createSandboxApp,
  createSandboxClient,
  LIST_SUBSCRIPTIONS,
  SUBSCRIPTION_POLLING,
} from '../support/fixtures/subscriptions.ts';
import { type ReceivedMessage, startReceiver } from '../support/receiver.ts';
import { runAllDueRows } from '../support/work/due-work.ts';

type EventType = keyof typeof EVENTS;

interface Webhook {
  parameters: { name: string; required: boolean; schema: object }[];
  requestBody: { content: { 'application/json': { schema: object } } };
}

const receiver = await startReceiver();
afterAll(() => receiver[Symbol.asyncDispose]());
const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' } });
const { services, sandbox, rest } = app.app;
const { webhooks }: { webhooks: Record<string, { post: Webhook }> } = JSON.parse(
  (await rest.inject('/v1/openapi.json')).body,
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

/** Returns the deviations of the body and of its headers from the OpenAPI document. */
function findDeviations(
  kind: string,
  { headers, body }: Pick<ReceivedMessage, 'headers' | 'body'>,
) {
  const { parameters, requestBody } = webhooks[kind]?.post as Webhook;
  const values = [[requestBody.content['application/json'].schema, JSON.parse(body)] as const];
  const headerValues = parameters.map(({ name, schema }) => [schema, headers[name]] as const);
  return [...values, ...headerValues].flatMap(([schema, value]) => {
    const validate = ajv.compile(schema);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  });
}

/** The kinds of an installation's messages, by action. */
const TITLE_BY_ACTION: Record<string, string> = {
  read: 'records',
  subscribe: 'changes',
  'schema.watch': 'fields',
};

function getKind({ body }: ReceivedMessage): string {
  const { notificationType, action } = JSON.parse(body);
  return notificationType ?? TITLE_BY_ACTION[action] ?? 'unknown';
}

/** Creates a project that delivers events of all types and records to the receiver. */
async function createSubscribedTenant(endpoint: string) {
  const tenant = await app.createTenant();
  await recordEvents(app, tenant);
  const { projectId } = tenant;
  const { createDestination } = await tenant.query(CREATE_DESTINATION, {
    input: {
      projectIdOrName: projectId,
      name: 'records',
      type: 'WEBHOOK',
      url: receiver.getUrl(endpoint),
    },
  });
  const { prisma } = services.database;
  const { id: topicId } = await prisma.topic.findFirstOrThrow({ where: { projectId } });
  const destinationId = createDestination.destination.id;
  await prisma.topicDestinationRoute.create({
    data: { id: newId('tdr'), projectId, topicId, destinationId },
  });
  return tenant;
}

const connection = {
  projectId: 'prj_1',
  provider: 'sandbox',
  groupRef: 'acme',
  connectionId: 'con_1',
  consumerRef: 'ada',
  consumerName: 'Ada',
};
const installation = {
  ...connection,
  integrationId: 'int_1',
  integrationName: 'crm',
  installationId: 'ins_1',
  groupName: 'Acme',
};
const destination = {
  projectId: 'prj_1',
  destinationId: 'dst_1',
  destinationName: 'mine',
  url: 'https://hooks.example.com/',
};
const object = { objectName: 'contacts', rawObjectName: 'contacts', mappedObjectName: 'people' };
const [error, config] = ['Gone.', { read: [] }];
const operationId = 'opr_1';
const proposal = {
  ...installation,
  proposalId: 'prp_1',
  agentSessionId: 'ags_1',
  objectName: 'people',
  type: 'update',
  recordId: '7',
  createdBy: 'agent:ags_1',
} as const;
const times = { fromTimestamp: '2026-01-01T00:00:00.000Z', untilTimestamp: '2026-02-01T00:00:00Z' };
const writeOutcome = { success: false, successfulRecordIds: ['1'], errors: ['No.'] };

const EVENT_DATA: { [T in EventType]: EventData<T> } = {
  READ_BACKFILL_DONE: { ...installation, ...object },
  READ_SCHEDULE_PAUSED: { ...installation, ...object, config, error },
  READ_TRIGGERED_DONE: { ...installation, ...object, ...times },
  READ_TRIGGERED_ERROR: { ...installation, ...object, error },
  WRITE_ASYNC_DONE: { ...installation, operationId, ...object, ...writeOutcome },
  CONNECTION_CREATED: connection,
  CONNECTION_UPDATED: connection,
  CONNECTION_REFRESHED: connection,
  CONNECTION_ERROR: { ...connection, errors: ['Refused.'] },
  CONNECTION_DELETED: connection,
  INSTALLATION_CREATED: { ...installation, config },
  INSTALLATION_UPDATED: { ...installation, config, lastConfig: config },
  INSTALLATION_DELETED: { ...installation, config },
  SUBSCRIBE_CREATE_ERROR: { ...installation, error },
  DESTINATION_WEBHOOK_DISABLED: destination,
  DESTINATION_WEBHOOK_FAILING: {
    ...destination,
    failingSince: '2026-01-01T00:00:00.000Z',
    failedAttempts: 3,
  },
  DELIVERY_FAILED: { ...destination, deliveryId: 'dlv_1', operationId, attempts: 9, error },
  PROPOSAL_CREATED: proposal,
  PROPOSAL_APPROVED: { ...proposal, decidedBy: 'consumer:csm_1' },
  PROPOSAL_REJECTED: { ...proposal, decidedBy: 'consumer:csm_1' },
  PROPOSAL_COMMITTED: { ...proposal, operationId, success: true },
  PROPOSAL_EXPIRED: proposal,
  PROPOSAL_STALE: proposal,
  SETUP_FAILED: {
    projectId: 'prj_1',
    provider: 'hubspot',
    groupRef: 'acme',
    consumerRef: 'ann',
    error,
  },
};

/** Creates a record at the provider, and makes the next check of the schema find new fields. */
async function changeRecordAndSchema(tenant: Tenant, installationId: string) {
  const { prisma } = services.database;
  const readStatus = async () => {
    const { node } = await tenant.query(LIST_SUBSCRIPTIONS, { id: installationId });
    return node.subscriptions[0]?.status;
  };
  await expect.poll(readStatus, SUBSCRIPTION_POLLING).toBe('ACTIVE');
  await createSandboxClient(sandbox.url).create({ email: 'ada@example.test' });
  const key = { projectId: tenant.projectId, installationId };
  const checkSchemas = () => runAllDueRows(services, schemaWatches);
  await checkSchemas();
  await expect
    .poll(async () => (await prisma.schemaWatch.findFirstOrThrow({ where: key })).connectionId)
    .not.toBeNull();
  const data = { knownFields: { contacts: {} }, dueTime: new Date(0) };
  await prisma.schemaWatch.updateMany({ where: key, data });
  await checkSchemas();
}

async function sendTestMessage(tenant: Tenant): Promise<void> {
  const { projectId } = tenant;
  const { project } = await tenant.query(
    'query ListDestinations($id: String!) { project(idOrName: $id) { destinations { nodes { id } } } }',
    { id: projectId },
  );
  const input = { projectIdOrName: projectId, destinationId: project.destinations.nodes[0].id };
  await tenant.query(
    `mutation SendTestMessage($input: SendTestMessageInput!) {
      sendTestMessage(input: $input) { delivery { id } } }`,
    { input },
  );
}

test('declares a webhook for each type of event, each kind of record message, and the test message', () => {
  const types = Object.values(EVENTS).map(({ wireName }) => wireName);
  const expectedNames = [...types, ...Object.values(TITLE_BY_ACTION), TEST_MESSAGE_TYPE];
  expect(Object.keys(webhooks).sort()).toEqual(expectedNames.sort());
});

test('delivers messages of each kind as the OpenAPI document declares them', async () => {
  sandbox.seed('contacts', 3);
  const tenant = await createSubscribedTenant('everything');
  await app.app.start();
  await createSandboxApp(tenant);
  const content = {
    read: { objects: [{ ...createIntegrationContent().read.objects[0], mapToName: 'people' }] },
    subscribe: { objects: [ALL_EVENTS] },
    watchSchema: { destination: 'records', allObjects: { fieldCreated: { enabled: 'ALWAYS' } } },
  };
  const reading = await installReads(app, tenant, { content });
  await tenant.query(TRIGGER_READ, { input: { ...reading.triggerInput, objectName: 'contacts' } });
  await changeRecordAndSchema(tenant, reading.id);
  for (const [eventType, data] of Object.entries(EVENT_DATA) as [
    EventType,
    EventData<EventType>,
  ][]) {
    const { projectId } = tenant;
    await inTransaction(services.database, (tx) =>
      recordEvent(tx, { projectId, eventType, data, subject: null }),
    );
  }
  await sendTestMessage(tenant);
  const receivedMessages = receiver.listMessages('everything');
  const listReceivedKinds = () => [...new Set(receivedMessages.map(getKind))].sort();
  await expect.poll(listReceivedKinds).toEqual(Object.keys(webhooks).sort());
  const deviations = receivedMessages.flatMap((message) =>
    findDeviations(getKind(message), message).map(
      (deviation) => `${getKind(message)}: ${deviation}`,
    ),
  );
  expect(deviations).toEqual([]);
  // The read delivers records automatically, in addition to the events that the test recorded.
  expect(receivedMessages.length).toBeGreaterThan(Object.keys(webhooks).length);
});

test('finds deviations from the OpenAPI document', () => {
  const headers = {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': 'now',
    'webhook-signature': 'v1,x',
  };
  const { projectId: _projectId, ...data } = connection;
  const body = JSON.stringify({ notificationType: 'other', data });
  expect(findDeviations('connection.created', { headers, body })).toEqual([
    '/notificationType must be equal to constant',
    "/data must have required property 'projectId'",
    expect.stringContaining('must match pattern'),
    expect.stringContaining('must match pattern'),
  ]);
});
