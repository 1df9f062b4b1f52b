/**
 * Fills a project with rows of every kind by set-based SQL: a few of each to count statements, or hundreds of
 * thousands to check query plans. Ids interleave the rows of several projects.
 */

import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import type { Services } from '../../../src/domain/access/call.ts';
import { createStoredConfig } from '../../../src/domain/integrations/installation/installation-config.ts';
import { integrationContentInput } from '../../../src/domain/integrations/integration/integration-content-input.ts';
import { createIntegrationContent } from '../fixtures/integrations.ts';

export interface Sizes {
  /** Number of groups, consumers, integrations, topics, destinations and other small resources. */
  few: number;
  /** At most `3 * few * few`. */
  connections: number;
  /** At most `few * few`. */
  installations: number;
  operations: number;
  /** The number of events, logs, deliveries and attempts. At most `operations`. */
  events: number;
}

/** The maximum number of projects whose ids can be interleaved. */
const PROJECTS_MAX = 64;

/** Returns the id of the n-th row of a project. Higher numbers are newer. */
export function formatRowId(prefix: string, project: number, number: number): string {
  return `${prefix}_${String(number * PROJECTS_MAX + project).padStart(26, '0')}`;
}

/** Fills the project. `number` must be unique among the projects of one database. */
export async function fillProject(
  { query, vault }: { query: RunQuery } & Pick<Services, 'vault'>,
  { projectId, number }: { projectId: string; number: number },
  sizes: Sizes,
): Promise<void> {
  const content = JSON.stringify(integrationContentInput.parse(createIntegrationContent()));
  const config = JSON.stringify(
    createStoredConfig(null, integrationContentInput.parse(createIntegrationContent())),
  );
  const texts = createStatements(number, sizes, { content, config });
  for (const text of texts) await query(text, text.includes('$1') ? [projectId] : []);
  for (let n = 0; n < sizes.few; n += 1) {
    const id = formatRowId('dst', number, n);
    const { signingSecretSealed } = sealSigningSecret(
      vault,
      { id, projectId },
      createSigningSecret(),
    );
    await query(
      `insert into "Destination" ("id", "projectId", "name", "type", "url", "signingSecretSealed")
        values ($1, $2, $1, 'WEBHOOK', 'https://receiver.test', $3)`,
      [id, projectId, signingSecretSealed],
    );
  }
  for (const text of createRouteStatements(number, sizes)) await query(text, [projectId]);
  for (const text of createStreamStatements(number, sizes)) await query(text, [projectId]);
  for (const text of INSERT_SEARCH_WORDS) await query(text, [projectId]);
}

/** Repeats the work of the search triggers, because bulk loads may disable triggers. */
const INSERT_SEARCH_WORDS = [
  ...Object.entries({
    Group: ['groupRef', 'groupName'],
    Consumer: ['consumerRef', 'consumerName'],
    Integration: ['name'],
    Destination: ['name'],
    Topic: ['name'],
  }).map(([table, names]) =>
    formatSearchWordInsert(
      table,
      names.map((name) => `r."${name}"`),
    ),
  ),
  formatSearchWordInsert(
    'Connection',
    ['g."groupRef"', 'g."groupName"', 'c."consumerRef"', 'c."consumerName"'],
    `join "Group" g on g."projectId" = r."projectId" and g."id" = r."groupId"
     join "Consumer" c on c."projectId" = r."projectId" and c."id" = r."consumerId"`,
  ),
];

function formatSearchWordInsert(table: string, names: string[], joined = ''): string {
  return `insert into "SearchWord" ("projectId", "kind", "sortKey", "rowId")
    select r."projectId", '${table}', word || ' ' || r."id", r."id" from "${table}" r ${joined}
    cross join lateral search_words(array[${names.join(', ')}]) as word
    where r."projectId" = $1 on conflict do nothing`;
}

function formatInsert(table: string, count: number, columns: Record<string, string>): string {
  const names = Object.keys(columns).map((name) => `"${name}"`);
  return `insert into "${table}" ("projectId", ${names.join(', ')})
    select $1, ${Object.values(columns).join(', ')} from generate_series(0, ${count - 1}) n`;
}

/** Without statistics, PostgreSQL takes a table for empty, so each check of a foreign key scans it. */
function formatAnalyze(table: string, count: number): string[] {
  return count > 1_000 ? [`analyze "${table}"`] : [];
}

/** Returns a function that formats the SQL for the id of the row itself, or of a row that it references. */
function createIdSql(number: number) {
  return (prefix: string, n = 'n') =>
    `'${prefix}_' || lpad(((${n})::bigint * ${PROJECTS_MAX} + ${number})::text, 26, '0')`;
}

/** SQL: times spread over the last 30 days. The last row is the newest. */
const formatSpreadTime = (count: number) =>
  `now() - (${count} - n) * interval '30 days' / ${count}`;

const CONNECTION_STATUS = `(case when n % 20 = 0 then 'BAD_CREDENTIALS'
  when n % 3 = 0 then 'CREATED' else 'WORKING' end)::"ConnectionStatus"`;
const ACTION_TYPE = `(case when n % 100 = 50 then 'SUBSCRIBE'
  when n % 3 = 0 then 'WRITE' else 'READ' end)::"OperationActionType"`;
const OPERATION_STATUS = `(case when n % 500 = 100 then 'IN_PROGRESS'
  when n % 33 = 0 then 'FAILURE' else 'SUCCESS' end)::"OperationStatus"`;
/** Makes some types of events frequent and others rare. */
const EVENT_TYPE = `(array['READ_TRIGGERED_DONE', 'WRITE_ASYNC_DONE', 'CONNECTION_CREATED',
  'INSTALLATION_CREATED', 'CONNECTION_ERROR'])[case when n % 10 < 8 then 1 + n % 2
    when n % 1000 = 9 then 5 else 3 + n % 2 end]::"NotificationEventType"`;

function createStatements(
  number: number,
  sizes: Sizes,
  { content, config }: { content: string; config: string },
): string[] {
  const { few, connections, installations, operations, events } = sizes;
  const id = createIdSql(number);
  const newest = (count: number, spread = count) => `${count} - 1 - (n % ${spread})`;
  /** Limits the installations with operations, so that each of them has several. */
  const installationsWithOperations = Math.max(
    1,
    Math.min(installations, Math.floor(operations / 50)),
  );
  const operationsWithLogs = Math.max(1, Math.floor(events / 50));
  const references = { integrationId: id('int', `n / ${few}`), groupId: id('grp', `n % ${few}`) };
  return [
    formatInsert('ApiKey', few, {
      id: id('key'),
      label: `'key'`,
      scopes: `'{}'::text[]`,
      active: 'n % 5 > 0',
      prefix: `'ik_'`,
      hash: `'hash-${number}-' || n`,
    }),
    formatInsert('JwtKey', few, {
      id: id('jwk'),
      label: `'key'`,
      publicKeyPem: `'pem'`,
      active: 'n % 5 > 0',
    }),
    formatInsert('Group', few, { id: id('grp'), groupRef: `'group-' || n`, groupName: `'Group'` }),
    formatInsert('Consumer', few, {
      id: id('csm'),
      consumerRef: `'consumer-' || n`,
      consumerName: `'Consumer'`,
    }),
    formatInsert('CustomProvider', few, {
      id: id('cpr'),
      name: "'x-p' || n",
      document: "'{}'",
      content: "'{}'::jsonb",
    }),
    formatInsert('ProviderApp', few, {
      id: id('app'),
      provider: `'hubspot'`,
      clientId: `'client'`,
      clientSecretSealed: `'sealed'`,
      scopes: `'{}'::text[]`,
    }),
    formatInsert('Connection', connections, {
      id: id('con'),
      provider: `(array['hubspot', 'salesforce', 'sandbox'])[1 + n % 3]`,
      groupId: id('grp', `n % ${few}`),
      consumerId: id('csm', `n / ${few} % ${few}`),
      providerAppId: id('app', `n % ${few}`),
      authScheme: `'NONE'::"AuthScheme"`,
      status: CONNECTION_STATUS,
      tokenExpireTime: `case when n % 2 = 0 then now() + (n + 1) * interval '1 second' end`,
    }),
    ...formatAnalyze('Connection', connections),
    formatInsert('Integration', few, {
      id: id('int'),
      name: `'integration-' || n`,
      provider: `(array['hubspot', 'salesforce', 'sandbox'])[1 + n % 3]`,
      latestRevisionId: id('rev', `n * ${few} + ${few} - 1`),
    }),
    formatInsert('Revision', few * few, {
      id: id('rev'),
      integrationId: id('int', `n / ${few}`),
      specVersion: `'1.0.0'`,
      content: `'${content}'::jsonb`,
    }),
    formatInsert('Installation', installations, {
      id: id('ins'),
      ...references,
      connectionId: id('con', `case when n < ${few} then 0 else n % ${connections} end`),
      configId: id('cfg'),
      createdBy: `'api:key'`,
      healthStatus: `(case when n % 50 = 7 then 'UNHEALTHY' else 'HEALTHY' end)::"InstallationHealth"`,
    }),
    ...formatAnalyze('Installation', installations),
    formatInsert('InstallationConfig', installations, {
      id: id('cfg'),
      installationId: id('ins'),
      content: `'${config}'::jsonb`,
    }),
    formatInsert('DestinationUse', few, {
      destinationName: `'records'`,
      usedById: id('int'),
      integrationId: id('int'),
    }),
    formatInsert('DestinationUse', installations, {
      destinationName: id('dst', `n % ${few}`),
      usedById: id('ins'),
      installationId: id('ins'),
    }),
    formatInsert('InstalledObject', installations, {
      installationId: id('ins'),
      objectName: `'contacts'`,
      nextReadTime: `now() + (n - 100) * interval '1 second'`,
      paused: 'n % 100 = 99',
    }),
    formatInsert('ObjectSubscription', few, {
      installationId: id('ins'),
      objectName: `'contacts'`,
      provider: `'sandbox'`,
      connectionId: id('con'),
      providerAppId: id('app'),
      account: id('con'),
      kinds: `'{CREATE}'::"ProviderEventKind"[]`,
      otherEvents: `'{}'::text[]`,
      watchFields: `'{}'::text[]`,
      status: `'ACTIVE'::"SubscriptionStatus"`,
    }),
    formatInsert('SubscriptionSecret', few, {
      id: id('sec'),
      installationId: id('ins'),
      objectName: `'contacts'`,
      providerAppId: id('app'),
      account: id('con'),
      secretsSealed: `'sealed'`,
    }),
    formatInsert('ProviderStream', few, {
      connectionId: id('con'),
      provider: `'sandbox'`,
      status: `'ACTIVE'::"SubscriptionStatus"`,
      dueTime: `now() + interval '1 day'`,
    }),
    formatInsert('ListWebhook', few, {
      id: id('con'),
      providerRef: `'list'`,
      address: `'https://hooks.example/x'`,
      secretSealed: `'sealed'`,
      checkTime: `now() + interval '1 day'`,
    }),
    formatInsert('Operation', operations, {
      id: id('opr'),
      integrationId: id('int', `(${newest(installations, installationsWithOperations)}) / ${few}`),
      installationId: id('ins', newest(installations, installationsWithOperations)),
      configId: id('cfg', newest(installations, installationsWithOperations)),
      actionType: ACTION_TYPE,
      status: OPERATION_STATUS,
      result: `'Read some records.'`,
      metadata: `'{"objects": ["contacts"]}'::jsonb`,
      createTime: formatSpreadTime(operations),
    }),
    ...formatAnalyze('Operation', operations),
    formatInsert('ActivityDelta', few, {
      time: `date_trunc('minute', now(), 'UTC')`,
      kind: `(array['operation', 'delivery'])[1 + n % 2]`,
      key: `(array['READ SUCCESS', ${id('dst', `n % ${few}`)}])[1 + n % 2]`,
      total: '1',
    }),
    formatInsert('LearnedField', events, {
      provider: `'sandbox'`,
      module: `'root'`,
      objectName: `'object_' || n % ${few}`,
      fieldName: `'field_' || n`,
      valueType: `'STRING'`,
      readOnly: 'false',
      required: 'false',
      lastSeenTime: 'now()',
    }),
    // Counts of each hour, for one destination after another.
    formatInsert('ActivityCount', events, {
      grain: `'hour'`,
      time: `date_trunc('day', now(), 'UTC') - n / ${few} * interval '1 day'`,
      kind: `'delivery'`,
      key: id('dst', `n % ${few}`),
      ...Object.fromEntries(
        ['total', 'failed', 'p50Ms', 'p95Ms', 'p99Ms'].map((name) => [name, 'array[n % 7, 1]']),
      ),
    }),
    formatInsert('ActivityHistogram', events, {
      grain: `'hour'`,
      key: id('dst', `n % ${few}`),
      time: `date_trunc('hour', now(), 'UTC') - n / ${few} * interval '1 hour'`,
      durations: 'array[n % 7, 1]',
    }),
    formatInsert('OperationLog', events, {
      id: id('log'),
      operationId: id('opr', newest(operations, Math.min(operations, operationsWithLogs))),
      severity: `'INFO'::"LogSeverity"`,
      message: `'Read a page.'`,
    }),
    ...(['operationId', 'connectionId'] as const).map((owner) =>
      formatInsert('RecordedRequest', events, {
        id: owner === 'operationId' ? id('req') : id('req', `n + ${events}`),
        [owner]:
          owner === 'operationId'
            ? id('opr', newest(operations, Math.min(operations, operationsWithLogs)))
            : id('con', `n % ${Math.min(connections, few)}`),
        kind: `'API'::"RequestKind"`,
        method: `'GET'`,
        host: `'crm.test'`,
        path: `'/contacts'`,
        isFailed: 'n % 50 = 0',
        durationMs: '1',
        requestHeaders: `'{}'::jsonb`,
        createTime: formatSpreadTime(events),
      }),
    ),
    formatInsert('NotificationEvent', events, {
      id: id('evt'),
      position: 'n + 1',
      eventType: EVENT_TYPE,
      data: `'{"projectId": "some"}'::jsonb`,
      connectionId: id('con', newest(connections)),
      installationId: id('ins', newest(installations)),
      operationId: id('opr', newest(operations)),
      destinationId: id('dst', `n % ${few}`),
      createTime: formatSpreadTime(events),
    }),
    `insert into "EventLog" ("projectId", "lastPosition") values ($1, ${events})
      on conflict ("projectId") do update set "lastPosition" = excluded."lastPosition"`,
    formatInsert('Delivery', events, {
      id: id('dlv'),
      destinationId: id('dst', `n % ${few}`),
      eventId: id('evt', `n / ${few}`),
      eventType: EVENT_TYPE,
      operationId: id('opr', newest(operations)),
      status: `(case when n % 50 = 0 then 'PENDING' when n % 33 = 0 then 'FAILED'
        else 'SUCCEEDED' end)::"DeliveryStatus"`,
      body: `'{}'`,
      attemptCount: `case when n < ${events} / 2 then 2 else 0 end`,
      nextAttemptTime: `case when n % 50 = 0 then now() + (n % 1000 - 500) * interval '1 minute' end`,
      createTime: formatSpreadTime(events),
    }),
    formatInsert('DeliveryAttempt', events, {
      id: id('att'),
      deliveryId: id('dlv', `n / 2`),
      attemptNumber: '1 + n % 2',
      durationMs: '12',
    }),
    formatInsert('IdempotencyKey', events, {
      key: `'key-' || n`,
      inputHash: `'hash'`,
      operationId: id('opr', newest(operations)),
      expireTime: `now() + interval '1 day' - n * interval '1 second'`,
    }),
    formatInsert('WriteTask', events, {
      id: id('opr'),
      installationId: id('ins', newest(installations)),
      objectName: `'contacts'`,
      type: `'CREATE'::"WriteType"`,
      mode: `'ASYNCHRONOUS'::"WriteMode"`,
      recordCount: '1',
      deadlineTime: 'now()',
      dueTime: `case when n % 500 = 0 then now() - n * interval '1 second' end`,
      endTime: `case when n % 500 > 0 then ${formatSpreadTime(events)} end`,
    }),
    formatInsert('WriteEntry', events, {
      taskId: id('opr'),
      position: '0',
      operationId: id('opr'),
      record: `'{}'`,
    }),
  ];
}

/** Adds a stream destination, which keeps its messages. */
function createStreamStatements(number: number, { few, events }: Sizes): string[] {
  const id = createIdSql(number);
  const destinationId = id('dst', String(few));
  return [
    `insert into "Destination" ("projectId", "id", "name", "type")
      values ($1, ${destinationId}, 'stream', 'STREAM')`,
    `insert into "StreamLog" ("projectId", "destinationId", "lastPosition", "lastByte")
      values ($1, ${destinationId}, ${events}, ${events * 2})`,
    formatInsert('StreamMessage', events, {
      id: id('msg'),
      destinationId,
      position: 'n + 1',
      lastByte: '2 * (n + 1)',
      groupId: id('grp', `n % ${few}`),
      consumerId: id('csm', `n % ${few}`),
      body: `'{}'`,
      createTime: formatSpreadTime(events),
    }),
  ];
}

/** Topics with their routes, and plans. */
function createRouteStatements(number: number, { few, events }: Sizes): string[] {
  const id = createIdSql(number);
  const types = `enum_range(null::"NotificationEventType")`;
  return [
    formatInsert('Topic', few, { id: id('top'), name: `'topic-' || n` }),
    formatInsert('Plan', few, {
      id: id('pln'),
      hash: `''`,
      baseHash: `''`,
      base: `'{}'`,
      allowDeletions: 'false',
      changes: `'[]'`,
      contractChanges: `'[]'`,
      impacts: `'[]'`,
      findings: `'[]'`,
      requiredSecrets: `'{}'`,
      expireTime: `now() + interval '1 day'`,
    }),
    formatInsert('AgentSession', few, {
      id: id('ags'),
      groupId: id('grp', '0'),
      consumerId: id('csm', '0'),
      name: `'agent-' || n`,
      objectNames: `'{}'`,
      verbs: `'{READ}'`,
      rules: `'[]'`,
      pinnedTools: `'[]'`,
      proposalSeconds: '60',
      createdBy: `'api:key'`,
      expireTime: `now() + interval '1 day'`,
    }),
    formatInsert('Proposal', few, {
      id: id('prp'),
      groupId: id('grp', '0'),
      consumerId: id('csm', '0'),
      integrationId: id('int', '0'),
      installationId: id('ins', '0'),
      agentSessionId: id('ags', 'n'),
      createdBy: `'agent:session'`,
      objectName: `'people'`,
      type: `'CREATE'`,
      after: `'{}'`,
      payloadHash: `''`,
      planHash: `''`,
      expireTime: `now() + interval '1 day'`,
    }),
    formatInsert('Acknowledgement', few, {
      kind: `'CONNECTION_BAD_CREDENTIALS'`,
      subjectId: id('con'),
      connectionId: id('con'),
      lastTime: 'now()',
      acknowledgedBy: `'api:key'`,
    }),
    formatInsert('EventTopicRoute', few * 15, {
      id: id('etr'),
      eventType: `(${types})[1 + n % 15]`,
      topicId: id('top', 'n / 15'),
    }),
    formatInsert('TopicDestinationRoute', few * few, {
      id: id('tdr'),
      topicId: id('top', `n / ${few}`),
      destinationId: id('dst', `n % ${few}`),
    }),
    ...['0', `1 + n % ${few - 1}`].map((topic) =>
      formatInsert('NotificationEventTopic', events, {
        eventId: id('evt'),
        topicId: id('top', topic),
        position: 'n + 1',
        eventType: EVENT_TYPE,
      }),
    ),
  ];
}
