/** Creates an org with several rows of each kind, and one builder who may see all of them. */
import { graphql } from 'graphql';
import { expect } from 'vitest';
import type { Services } from '../../../src/domain/access/call.ts';
import { ALL_SCOPES } from '../../../src/domain/access/viewer/scopes.ts';
import { createContext } from '../../../src/graphql/execution/context.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { TestApp } from '../app.ts';
import { fillProject } from './fill.ts';
import { queryRows, toQuery } from './query.ts';
import { recordStatements } from './statements.ts';

/** Number of rows in each additional project. */
const PROJECT_SIZES = { few: 2, connections: 4, installations: 4, operations: 8, events: 8 };

/** Creates `count` members, invites, domains and projects, and `count` other orgs. */
export async function fillOrg(app: TestApp, count: number) {
  const { services } = app.app;
  const { orgId, projectId, builderId, builderEmail } = await app.createTenant();
  const orgIds = [orgId];
  for (let rowNumber = 1; rowNumber <= count; rowNumber += 1) {
    const otherOrgId = newId('org');
    orgIds.push(otherOrgId);
    await insertAll(services, [
      ['"Org" ("id", "label") values ($1, $1)', otherOrgId],
      [BILLING_ACCOUNT, newId('bil'), otherOrgId],
      [
        '"OrgMember" ("orgId", "builderId", "role") values ($1, $2, \'ADMIN\')',
        otherOrgId,
        builderId,
      ],
      [INVITE_VALUES, newId('inv'), otherOrgId, builderEmail],
    ]);
    const [memberId, smallProjectId] = [newId('bld'), newId('prj')];
    await insertAll(services, [
      ['"Builder" ("id", "idpProvider", "idpRef") values ($1, $1, $1)', memberId],
      ['"OrgMember" ("orgId", "builderId", "role") values ($1, $2, \'ADMIN\')', orgId, memberId],
      ['"ClaimedDomain" ("id", "domain", "orgId") values ($1, $1, $2)', newId('dom'), orgId],
      [INVITE_VALUES, newId('inv'), orgId, `${rowNumber}@invited.test`],
      [
        '"Project" ("id", "orgId", "name", "appName") values ($1, $2, $1, $1)',
        smallProjectId,
        orgId,
      ],
    ]);
    await fillProject(
      { ...services, query: toQuery(services.database) },
      { projectId: smallProjectId, number: rowNumber },
      PROJECT_SIZES,
    );
  }
  const caller = {
    kind: 'BUILDER',
    id: builderId,
    roles: new Map(orgIds.map((id) => [id, 'ADMIN' as const])),
    email: builderEmail,
    expireTime: null,
  } as const;
  return { orgId, projectId, run: createQueryRunner(services, { ...caller, scopes: ALL_SCOPES }) };
}

const BILLING_ACCOUNT = `"BillingAccount" ("id", "orgId", "displayName", "billingProvider", "billingProviderRef")
  values ($1, $2, $1, $1, $1)`;

const INVITE_VALUES = `"Invite" ("id", "orgId", "invitedEmail", "status", "pendingEmail", "role", "expireTime")
  values ($1, $2, $3, 'PENDING', $3, 'ADMIN', now() + interval '1 day')`;

async function insertAll({ database }: Services, inserts: [string, ...string[]][]): Promise<void> {
  for (const [text, ...values] of inserts) await queryRows(database, `insert into ${text}`, values);
}

/**
 * Returns a function that runs a query for an authenticated caller, so that statements of the authentication
 * are not counted.
 */
function createQueryRunner(
  services: Services,
  viewer: Parameters<typeof createContext>[1]['viewer'],
) {
  return async (source: string) => {
    const contextValue = createContext(services, { viewer });
    const { result, statements } = await recordStatements(() =>
      graphql({ schema, source, contextValue }),
    );
    const errors = result.errors?.map(({ originalError, message }) => originalError ?? message);
    expect(errors, statements.at(-1)?.text).toBeUndefined();
    return {
      // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
      data: result.data as any,
      statements,
      texts: statements.map(({ text }) => text),
    };
  };
}
