/** Records by their ids, as Salesforce has them now. */
import type { ProviderSession } from '../contract.ts';
import type { ProviderRecord, RecordsRead } from '../moving-records.ts';
import { answerBody, isSuccess } from '../reading-answers.ts';
import { fieldPath, findRecordId, objectApiName } from './object-names.ts';
import { paths } from './paths.ts';
import { selectedColumns, toRecord } from './read.ts';
import { failure } from './refused.ts';
import { queryAnswer } from './wire.ts';

/** The form of an id that the other form begins with: Salesforce takes and gives both. */
const SHORT_ID = 15;

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const known = ids.filter((id) => findRecordId(id) !== null);
  if (known.length === 0) return [];
  const listed = known.map((id) => `'${id}'`).join(',');
  const q = `SELECT ${selectedColumns(fields)} FROM ${objectApiName(objectName)} WHERE Id IN (${listed})`;
  const answer = await session.send({ method: 'GET', path: paths.query, query: { q } });
  if (!isSuccess(answer)) throw failure(answer);
  const { records } = answerBody(queryAnswer, answer, 'READ');
  const fieldPaths = fields.map((field): [string, string[]] => [field, fieldPath(field)]);
  const rows = new Map(records.map((row) => [row.Id.slice(0, SHORT_ID), row]));
  return known.flatMap((id) => {
    const row = rows.get(id.slice(0, SHORT_ID));
    return row ? { ...toRecord(row, fieldPaths), id } : [];
  });
}
