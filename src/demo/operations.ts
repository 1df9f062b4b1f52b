/** Adds past operations to the demo's installation, enough to page through. */
import { randomBytes } from 'node:crypto';
import { TypeID } from 'typeid-js';
import type { OperationActionType, OperationStatus } from '../database/generated/enums.ts';
import type { Services } from '../domain/call.ts';
import { MINUTE_MS } from '../work/durations.ts';

const DEMO_OPERATIONS = 1_000;
/** The time between two operations. Together they cover a week. */
const INTERVAL_MS = 10 * MINUTE_MS;
const BATCH_SIZE = 250;
/** The number of the sandbox's contacts, all of which the first read returned. */
const CONTACTS = 50;

interface DemoInstallation {
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
}

export async function addOperations(
  { database: { prisma }, now }: Pick<Services, 'database' | 'now'>,
  installation: DemoInstallation,
): Promise<void> {
  const { projectId } = installation;
  const existing = await prisma.operation.count({ where: { projectId } });
  const newestMs = now().getTime() - INTERVAL_MS;
  for (let createdCount = existing; createdCount < DEMO_OPERATIONS; createdCount += BATCH_SIZE) {
    const count = Math.min(BATCH_SIZE, DEMO_OPERATIONS - createdCount);
    const data = Array.from({ length: count }, (_, index) => {
      const number = createdCount + index;
      return createPastOperation(
        installation,
        number,
        newestMs - (DEMO_OPERATIONS - number) * INTERVAL_MS,
      );
    });
    await prisma.operation.createMany({ data });
    await prisma.recordedRequest.createMany({ data: data.flatMap(createFailedRequests) });
  }
  if (existing < DEMO_OPERATIONS) await addReads(prisma, installation, newestMs);
}

/** Sets the state of the read object to that after the past operations, unless it has really been read. */
async function addReads(
  prisma: Services['database']['prisma'],
  { projectId, installationId }: DemoInstallation,
  newest: number,
): Promise<void> {
  const numbers = Array.from({ length: DEMO_OPERATIONS }, (_none, number) => number);
  const reads = numbers.filter((number) => isRead(number) && !hasFailed(number));
  const recordsRead = reads.reduce((sum, number) => sum + countRecords(number), 0);
  const lastNumber = reads.at(-1) ?? 0;
  await prisma.installedObject.updateMany({
    where: { projectId, installationId, objectName: 'contacts', lastReadTime: null },
    data: {
      recordsRead: { increment: recordsRead },
      lastReadTime: new Date(newest - (DEMO_OPERATIONS - lastNumber) * INTERVAL_MS),
    },
  });
}

const FIRST_READ = 1;
const isRead = (number: number) => number % 3 !== 0;
/** None is exactly 24 hours old, where a count of the last 24 hours changes within a minute. */
const hasFailed = (number: number) => number % 25 === 13;

/** The first read returns all contacts. Later reads return the contacts that changed, if any. */
function countRecords(number: number): number {
  if (number === FIRST_READ) return CONTACTS;
  return number % 4 === 0 ? 1 + (number % 3) : 0;
}

function createPastOperation(installation: DemoInstallation, number: number, timeMs: number) {
  const actionType: OperationActionType = isRead(number) ? 'READ' : 'WRITE';
  const status: OperationStatus = hasFailed(number) ? 'FAILURE' : 'SUCCESS';
  const objectName = actionType === 'WRITE' ? 'deals' : 'contacts';
  const records = countRecords(number);
  return {
    id: createPastId('opr', timeMs),
    ...installation,
    actionType,
    status,
    result: formatResult({ actionType, status, objectName, records }),
    metadata: {
      objects: [objectName],
      ...(actionType === 'READ' && {
        progress: { objectName, recordsProcessed: status === 'SUCCESS' ? records : 0 },
      }),
    },
    createTime: new Date(timeMs),
    updateTime: new Date(timeMs + 2_000),
  };
}

function formatResult(operation: {
  actionType: OperationActionType;
  status: OperationStatus;
  objectName: string;
  records: number;
}): string {
  if (operation.status === 'FAILURE') return `[${operation.objectName}] The provider returned 503.`;
  if (operation.actionType === 'WRITE') return `[${operation.objectName}] Record 1 created`;
  if (operation.records === 0) return `[${operation.objectName}] No new data found.`;
  return `[${operation.objectName}] Read completed (${operation.records} records)`;
}

/** Returns the last request of a failed operation, and none for other operations. */
function createFailedRequests({ id, projectId, actionType, status, createTime }: PastOperation) {
  if (status !== 'FAILURE') return [];
  const isReading = actionType === 'READ';
  return {
    id: createPastId('req', createTime.getTime()),
    projectId,
    operationId: id,
    kind: 'API' as const,
    method: isReading ? 'GET' : 'POST',
    host: 'crm.example',
    path: isReading ? '/objects/contacts/records?limit=100' : '/objects/deals/records',
    responseStatus: 503,
    isFailed: true,
    durationMs: 134,
    requestHeaders: { accept: 'application/json', authorization: '***' },
    responseHeaders: { 'content-type': 'application/json', 'retry-after': '30' },
    responseBody:
      '{\n "error": {\n  "code": "unavailable",\n  "message": "Try again later."\n }\n}',
    createTime,
  };
}

type PastOperation = ReturnType<typeof createPastOperation>;

/** Returns an id of the time, because lists are sorted by id. */
function createPastId(prefix: 'opr' | 'req', timeMs: number): string {
  const bytes = new Uint8Array(randomBytes(16));
  new DataView(bytes.buffer).setBigUint64(
    0,
    (BigInt(timeMs) << 16n) | BigInt(bytes[6]! * 256 + bytes[7]!),
  );
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}
