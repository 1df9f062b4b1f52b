/**
 * Makes new custom fields visible. Salesforce hides them until a permission set includes them. The gateway has one, and
 * assigns it to the user of the connection's credentials. Administrators assign it to other users.
 */
import { z } from 'zod';
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure } from './failure.ts';
import { paths } from './paths.ts';
import { createResponse } from './wire.ts';

const PERMISSION_SET = {
  Name: 'IntegrationCustomFieldVisibility',
  Label: 'Integration Custom Field Visibility',
};

const userInfo = z.object({ user_id: z.string().regex(/^[a-zA-Z0-9]{15,18}$/) });
const rows = z.object({ records: z.array(z.looseObject({ Id: z.string() })) });

/**
 * Returns null on success, or why the fields stay hidden. Throws if the failure is temporary or the credentials are
 * invalid.
 */
export async function grantFieldAccess(
  session: ProviderSession,
  object: string,
  fieldNames: string[],
): Promise<string | null> {
  if (fieldNames.length === 0) return null;
  try {
    const setId = await getPermissionSet(session);
    await assignPermissionSet(session, setId);
    await grantPermissions(session, setId, { object, fieldNames });
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.isTemporary) throw error;
    if (error.kind === 'AUTH_INVALIDATED') throw error;
    return `The field may not be visible yet: ${error.message}`;
  }
}

async function getPermissionSet(session: ProviderSession): Promise<string> {
  const [assignment] = await listRows(
    session,
    `SELECT Id FROM PermissionSet WHERE Name = '${PERMISSION_SET.Name}'`,
  );
  return assignment?.Id ?? createRow(session, 'PermissionSet', PERMISSION_SET);
}

async function assignPermissionSet(
  session: ProviderSession,
  PermissionSetId: string,
): Promise<void> {
  const response = await session.send({ method: 'GET', path: paths.userInfo });
  const { user_id: AssigneeId } = parseResponse(userInfo, requireSuccess(response), 'READ');
  const assignments = await listRows(
    session,
    `SELECT Id FROM PermissionSetAssignment WHERE AssigneeId = '${AssigneeId}' AND PermissionSetId = '${PermissionSetId}'`,
  );
  if (assignments.length > 0) return;
  await createRow(session, 'PermissionSetAssignment', { AssigneeId, PermissionSetId });
}

async function grantPermissions(
  session: ProviderSession,
  ParentId: string,
  { object: SobjectType, fieldNames }: { object: string; fieldNames: string[] },
): Promise<void> {
  const permissions = await listRows(
    session,
    `SELECT Id, Field FROM FieldPermissions WHERE ParentId = '${ParentId}' AND SobjectType = '${SobjectType}'`,
  );
  const permittedFields = new Set(permissions.map(({ Field }) => Field));
  for (const fieldName of fieldNames) {
    const Field = `${SobjectType}.${fieldName}`;
    if (permittedFields.has(Field)) continue;
    const rights = { PermissionsRead: true, PermissionsEdit: true };
    await createRow(session, 'FieldPermissions', { ParentId, SobjectType, Field, ...rights });
  }
}

async function listRows(session: ProviderSession, q: string) {
  const response = await session.send({ method: 'GET', path: paths.query, query: { q } });
  return parseResponse(rows, requireSuccess(response), 'READ').records;
}

async function createRow(session: ProviderSession, object: string, body: object): Promise<string> {
  const response = await session.send({ method: 'POST', path: paths.records(object), body });
  return parseResponse(createResponse, requireSuccess(response), 'WRITE').id;
}

function requireSuccess(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw createFailure(response);
}
