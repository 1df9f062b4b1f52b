/** Creates, updates and deletes single records. */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import {
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
  type RecordRemoval,
  type RecordWrite,
} from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure, findRefusal, listMessages } from './failure.ts';
import { paths, toRecordId } from './paths.ts';
import { recordResponse } from './wire.ts';

export const ID_REFUSAL = 'An update needs the id of a HubSpot record';
export const ASSOCIATIONS_REFUSAL = 'HubSpot accepts associations only when a record is created';

export function writeRecord(session: ProviderSession, write: RecordWrite): Promise<RecordOutcome> {
  return write.type === 'CREATE' ? createRecord(session, write) : updateRecord(session, write);
}

async function createRecord(
  session: ProviderSession,
  { objectName, record, associations }: RecordWrite,
): Promise<RecordOutcome> {
  const response = await session.send({
    method: 'POST',
    path: paths.records(objectName),
    body: { properties: record, associations },
  });
  return toOutcome(response, null);
}

async function updateRecord(
  session: ProviderSession,
  { objectName, record, associations }: RecordWrite,
): Promise<RecordOutcome> {
  // HubSpot accepts associations only on creates, and would silently drop them.
  if (hasAssociations(associations)) throw new ProviderError('BAD_REQUEST', ASSOCIATIONS_REFUSAL);
  const { id, ...properties } = record;
  const recordId = toRecordId(id);
  if (recordId === null) return createRefusedOutcome(null, [ID_REFUSAL]);
  const path = paths.record(objectName, recordId);
  const response = await session.send({ method: 'PATCH', path, body: { properties } });
  if (response.status === 404) return createRefusedOutcome(recordId, listMessages(response));
  return toOutcome(response, recordId);
}

export async function deleteRecord(
  session: ProviderSession,
  { objectName, id }: RecordRemoval,
): Promise<RecordOutcome> {
  const recordId = toRecordId(id);
  if (recordId === null) return createRefusedOutcome(null, ['No HubSpot record can have that id']);
  const response = await session.send({
    method: 'DELETE',
    path: paths.removal(objectName, recordId),
  });
  if (isSuccess(response)) return createWrittenOutcome(recordId);
  if (response.status === 404) return createRefusedOutcome(recordId, listMessages(response));
  return refuseOrThrow(response, recordId);
}

export function hasAssociations(associations: unknown[] | undefined): boolean {
  return associations !== undefined && associations.length > 0;
}

function toOutcome(response: ProviderResponse, recordId: string | null): RecordOutcome {
  if (!isSuccess(response)) return refuseOrThrow(response, recordId);
  const { id, properties } = parseResponse(recordResponse, response, 'WRITE');
  return createWrittenOutcome(id, properties);
}

function refuseOrThrow(response: ProviderResponse, recordId: string | null): RecordOutcome {
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response, 'WRITE');
  return createRefusedOutcome(recordId, refusal);
}
