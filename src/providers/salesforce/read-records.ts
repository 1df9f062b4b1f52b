/** Records by their ids, as Salesforce has them now. */
import type { ProviderRecord, ProviderSession, RecordsRead } from '../contract.ts';
import { answerBody, isSuccess } from '../reading-answers.ts';
import { fieldPath, findRecordId } from './object-names.ts';
import { paths } from './paths.ts';
import { toRecord } from './read.ts';
import { failure } from './refused.ts';
import { queryRow } from './wire.ts';

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const fieldPaths = fields.map((field): [string, string[]] => [field, fieldPath(field)]);
  const found = await Promise.all(
    ids.map(async (id) => {
      const recordId = findRecordId(id);
      if (recordId === null) return [];
      const path = paths.record(objectName, recordId);
      const answer = await session.send({ method: 'GET', path });
      if (answer.status === 404) return [];
      if (!isSuccess(answer)) throw failure(answer);
      // By the id that was given: Salesforce has a short and a long form of each.
      return [{ ...toRecord(answerBody(queryRow, answer, 'READ'), fieldPaths), id }];
    }),
  );
  return found.flat();
}
