/** Adds past operations to the demo's installation, enough to page through. */
import { randomBytes } from 'node:crypto';
import { TypeID } from 'typeid-js';
import type { OperationActionType, OperationStatus } from '../database/generated/enums.ts';
import type { Services } from '../domain/call.ts';
import { MINUTE_MS } from '../work/durations.ts';

const DEMO_OPERATIONS = 1_000;
/** The time between two operations. All of them cover less than a week. */
const INTERVAL_MS = 10 * MINUTE_MS;
const BATCH_SIZE = 250;

interface Installed {
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
}

export async function addOperations(
  { database: { prisma }, now }: Pick<Services, 'database' | 'now'>,
  installed: Installed,
): Promise<void> {
  const { projectId } = installed;
  const existing = await prisma.operation.count({ where: { projectId } });
  const newest = now().getTime() - INTERVAL_MS;
  for (let createdCount = existing; createdCount < DEMO_OPERATIONS; createdCount += BATCH_SIZE) {
    const count = Math.min(BATCH_SIZE, DEMO_OPERATIONS - createdCount);
    const data = Array.from({ length: count }, (_, index) => {
      const number = createdCount + index;
      return pastOperation(installed, number, newest - (DEMO_OPERATIONS - number) * INTERVAL_MS);
    });
    await prisma.operation.createMany({ data });
  }
}

function pastOperation(installed: Installed, number: number, timeMs: number) {
  const actionType: OperationActionType = number % 3 === 0 ? 'WRITE' : 'READ';
  const status: OperationStatus = number % 25 === 7 ? 'FAILURE' : 'SUCCESS';
  const objectName = actionType === 'WRITE' ? 'deals' : 'contacts';
  const records = (number * 7) % 200;
  return {
    id: operationId(timeMs),
    ...installed,
    actionType,
    status,
    result: resultText({ actionType, status, objectName, records }),
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

function resultText(past: {
  actionType: OperationActionType;
  status: OperationStatus;
  objectName: string;
  records: number;
}): string {
  if (past.status === 'FAILURE') return `[${past.objectName}] The provider answered 503.`;
  if (past.actionType === 'WRITE') return `[${past.objectName}] Record 1 created`;
  if (past.records === 0) return `[${past.objectName}] No new data found.`;
  return `[${past.objectName}] Read completed (${past.records} records)`;
}

/** Returns an operation id of the given time. Lists are sorted by id, so a past operation needs a past id. */
function operationId(timeMs: number): string {
  const bytes = new Uint8Array(randomBytes(16));
  new DataView(bytes.buffer).setBigUint64(
    0,
    (BigInt(timeMs) << 16n) | BigInt(bytes[6]! * 256 + bytes[7]!),
  );
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return TypeID.fromUUIDBytes('opr', bytes).toString();
}
