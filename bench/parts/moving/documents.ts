/** What is asked of both: writes and connections, as the gateway's schema has them. */

/** What can be measured alone. */
export const MOVING_WORKS = ['W5 alone', 'W5', 'W6', 'W7', 'W8', 'W10', 'W10 slow', 'W9'] as const;

export type MovingDocument = 'Write' | 'Connect' | 'Backfill';

export const MOVING_DOCUMENTS: Record<Exclude<MovingDocument, 'Backfill'>, string> = {
  Write: `mutation Write($input: WriteRecordsInput!) {
    writeRecords(input: $input) { operationId successCount }
  }`,
  Connect: `mutation Connect($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`,
};

export const PROJECT = 'bench';
export const INTEGRATION = 'crm';
export const DESTINATION = 'receiver';
/** A connection has ten calls under way at most: the writers share some. */
export const GROUPS = ['group-0', 'group-1', 'group-2', 'group-3'];
export const BATCH_RECORDS = 100;

const record = (number: number) => ({
  email: `person-${number}@example.com`,
  firstname: `First ${number}`,
  lastname: `Last ${number}`,
});

const target = (number: number) => ({
  projectIdOrName: PROJECT,
  integrationIdOrName: INTEGRATION,
  groupRef: GROUPS[number % GROUPS.length],
  objectName: 'contacts',
  type: 'CREATE',
});

export const writeInput = (number: number) => ({ ...target(number), record: record(number) });

export const asynchronousInput = (number: number) => ({
  ...writeInput(number),
  mode: 'ASYNCHRONOUS',
});

export const batchInput = (number: number) => ({
  ...target(number),
  batch: Array.from({ length: BATCH_RECORDS }, (_, index) => ({
    record: record(number * BATCH_RECORDS + index),
  })),
});

/** Each of a group and a consumer that are new. */
export const connectInput = (number: number) => ({
  projectIdOrName: PROJECT,
  provider: 'sandbox',
  apiKey: 'sandbox-key-bench',
  groupRef: `customer-${number}`,
  consumerRef: `user-${number}`,
});
