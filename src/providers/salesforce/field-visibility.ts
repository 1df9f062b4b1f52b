/**
 * New custom fields are visible to nobody until a permission set says so: one of the gateway's, assigned to the
 * person whose credentials the connection has. Other people get it from their administrator.
 */
import { z } from 'zod';
import type { ProviderAnswer, ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { answerBody, isSuccess } from '../reading-answers.ts';
import { paths } from './paths.ts';
import { failure } from './refused.ts';
import { createAnswer } from './wire.ts';

const PERMISSION_SET = {
  Name: 'IntegrationCustomFieldVisibility',
  Label: 'Integration Custom Field Visibility',
};

const userInfo = z.object({ user_id: z.string().regex(/^[a-zA-Z0-9]{15,18}$/) });
const rows = z.object({ records: z.array(z.looseObject({ Id: z.string() })) });

/** What keeps the fields from being visible, in words; null if they are. Throws if it may pass. */
export async function makeVisible(
  session: ProviderSession,
  object: string,
  fieldNames: string[],
): Promise<string | null> {
  if (fieldNames.length === 0) return null;
  try {
    const setId = await permissionSet(session);
    await assign(session, setId);
    await permit(session, setId, { object, fieldNames });
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.passesLater) throw error;
    if (error.kind === 'AUTH_INVALIDATED') throw error;
    return `The field may not be visible yet: ${error.message}`;
  }
}

async function permissionSet(session: ProviderSession): Promise<string> {
  const [found] = await query(
    session,
    `SELECT Id FROM PermissionSet WHERE Name = '${PERMISSION_SET.Name}'`,
  );
  return found?.Id ?? create(session, 'PermissionSet', PERMISSION_SET);
}

async function assign(session: ProviderSession, PermissionSetId: string): Promise<void> {
  const answer = await session.send({ method: 'GET', path: paths.userInfo });
  const { user_id: AssigneeId } = answerBody(userInfo, succeeded(answer), 'READ');
  const assigned = await query(
    session,
    `SELECT Id FROM PermissionSetAssignment WHERE AssigneeId = '${AssigneeId}' AND PermissionSetId = '${PermissionSetId}'`,
  );
  if (assigned.length > 0) return;
  await create(session, 'PermissionSetAssignment', { AssigneeId, PermissionSetId });
}

async function permit(
  session: ProviderSession,
  ParentId: string,
  { object: SobjectType, fieldNames }: { object: string; fieldNames: string[] },
): Promise<void> {
  const permitted = await query(
    session,
    `SELECT Id, Field FROM FieldPermissions WHERE ParentId = '${ParentId}' AND SobjectType = '${SobjectType}'`,
  );
  const known = new Set(permitted.map(({ Field }) => Field));
  for (const fieldName of fieldNames) {
    const Field = `${SobjectType}.${fieldName}`;
    if (known.has(Field)) continue;
    const rights = { PermissionsRead: true, PermissionsEdit: true };
    await create(session, 'FieldPermissions', { ParentId, SobjectType, Field, ...rights });
  }
}

async function query(session: ProviderSession, q: string) {
  const answer = await session.send({ method: 'GET', path: paths.query, query: { q } });
  return answerBody(rows, succeeded(answer), 'READ').records;
}

async function create(session: ProviderSession, object: string, body: object): Promise<string> {
  const answer = await session.send({ method: 'POST', path: paths.records(object), body });
  return answerBody(createAnswer, succeeded(answer), 'WRITE').id;
}

function succeeded(answer: ProviderAnswer): ProviderAnswer {
  if (isSuccess(answer)) return answer;
  throw failure(answer);
}
