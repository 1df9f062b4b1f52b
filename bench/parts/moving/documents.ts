/** The mutations of writes and connections, which both servers receive. */
import { PROJECT_NAME } from '../../fill.ts';

/** Workloads that `--moving-workloads` selects. */
export const MOVING_WORKLOADS = [
  'W5 alone',
  'W5',
  'W6',
  'W7',
  'W8',
  'W10',
  'W10 slow',
  'W9',
] as const;

export type MovingDocument = 'Write' | 'Connect' | 'Backfill';

export const MOVING_DOCUMENTS: Record<Exclude<MovingDocument, 'Backfill'>, string> = {
  Write: `mutation Write($input: WriteRecordsInput!) {
    writeRecords(input: $input) { operationId successCount }
  }`,
  Connect: `mutation Connect($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`,
};

export const INTEGRATION = 'crm';
export const DESTINATION = 'receiver';
/** A connection has at most ten concurrent calls, so the writers share several connections. */
export const GROUPS = ['group-0', 'group-1', 'group-2', 'group-3'];
export const BATCH_RECORDS = 100;

const createRecord = (number: number) => ({
  email: `person-${number}@example.com`,
  firstname: `First ${number}`,
  lastname: `Last ${number}`,
});

const createTarget = (number: number) => ({
  projectIdOrName: PROJECT_NAME,
  integrationIdOrName: INTEGRATION,
  groupRef: GROUPS[number % GROUPS.length],
  objectName: 'contacts',
  type: 'CREATE',
});

export const createWriteInput = (number: number) => ({
  ...createTarget(number),
  records: { record: createRecord(number) },
});

export const createAsynchronousInput = (number: number) => ({
  ...createWriteInput(number),
  mode: 'ASYNCHRONOUS',
});

export const createBatchInput = (number: number) => ({
  ...createTarget(number),
  records: {
    batch: Array.from({ length: BATCH_RECORDS }, (_, index) => ({
      record: createRecord(number * BATCH_RECORDS + index),
    })),
  },
});

/** Each connection has a new group and a new consumer. */
export const createConnectInput = (number: number) => ({
  projectIdOrName: PROJECT_NAME,
  provider: 'sandbox',
  credentials: { apiKey: 'sandbox-key-bench' },
  groupRef: `customer-${number}`,
  consumerRef: `user-${number}`,
});
