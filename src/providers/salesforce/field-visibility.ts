/**
 * Makes new custom fields visible. Salesforce hides them until a permission set includes them. The gateway has one, and
 * assigns it to the user of the connection's credentials. Administrators assign it to other users.
 */
import { z } from 'zod';
import type { ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { parseResponse } from '../read-responses.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { createResponse } from './wire.ts';

const PERMISSION_SET = {
  Name: 'IntegrationCustomFieldVisibility',
  Label: 'Integration Custom Field Visibility',
};

const userInfo = z.object({ user_id: z.string().regex(/^[a-zA-Z0-9]{15,18}$/) });
const rowsResponse = z.object({ records: z.array(z.looseObject({ Id: z.string() })) });

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
  const [permissionSet] = await listRows(
    session,
    `SELECT Id FROM PermissionSet WHERE Name = '${PERMISSION_SET.Name}'`,
  );
  return permissionSet?.Id ?? createRow(session, 'PermissionSet', PERMISSION_SET);
}

async function assignPermissionSet(session: ProviderSession, setId: string): Promise<void> {
  const response = await session.send({ method: 'GET', path: paths.userInfo });
  const { user_id: userId } = parseResponse(userInfo, requireSuccess(response), 'READ');
  const assignments = await listRows(
    session,
    `SELECT Id FROM PermissionSetAssignment WHERE AssigneeId = '${userId}' AND PermissionSetId = '${setId}'`,
  );
  if (assignments.length > 0) return;
  const assignment = { AssigneeId: userId, PermissionSetId: setId };
  await createRow(session, 'PermissionSetAssignment', assignment);
}

async function grantPermissions(
  session: ProviderSession,
  setId: string,
  { object, fieldNames }: { object: string; fieldNames: string[] },
): Promise<void> {
  const permissions = await listRows(
    session,
    `SELECT Id, Field FROM FieldPermissions WHERE ParentId = '${setId}' AND SobjectType = '${object}'`,
  );
  const permittedFields = new Set(permissions.map(({ Field }) => Field));
  for (const fieldName of fieldNames) {
    const qualifiedName = `${object}.${fieldName}`;
    if (permittedFields.has(qualifiedName)) continue;
    await createRow(session, 'FieldPermissions', {
      ParentId: setId,
      SobjectType: object,
      Field: qualifiedName,
      PermissionsRead: true,
      PermissionsEdit: true,
    });
  }
}

async function listRows(session: ProviderSession, soql: string) {
  const response = await session.send({ method: 'GET', path: paths.query, query: { q: soql } });
  return parseResponse(rowsResponse, requireSuccess(response), 'READ').records;
}

async function createRow(session: ProviderSession, object: string, body: object): Promise<string> {
  const response = await session.send({ method: 'POST', path: paths.records(object), body });
  return parseResponse(createResponse, requireSuccess(response), 'WRITE').id;
}
