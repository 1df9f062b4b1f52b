/** docs/scopes.md lists every scope and the fields of the schema that need it. */

import { join } from 'node:path';
import { isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { findScope, isForAdmins, type Need } from '../../src/domain/viewer/needs.ts';
import { ALL_SCOPES, SCOPES, type Scope } from '../../src/domain/viewer/scopes.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { ROOT } from '../support/documents.ts';

test('docs/scopes.md is up to date', async () => {
  await expect(
    formatScopesPage(),
    'Run `npx vitest run test/docs/scopes.test.ts -u` to update it.',
  ).toMatchFileSnapshot(join(ROOT, 'docs/scopes.md'));
});

function formatScopesPage(): string {
  const parts = ALL_SCOPES.map((scope) => `## ${scope}\n\n${SCOPES[scope]}\n${listFields(scope)}`);
  return `${INTRODUCTION}\n${formatRoles()}\n${parts.join('\n')}`;
}

function formatRoles(): string {
  const names = Object.values(schema.getMutationType()?.getFields() ?? {})
    .filter(({ extensions }) => isForAdmins(extensions.needs as Need))
    .map(({ name }) => `\`${name}\``);
  return `${ROLES}\n${names.join(', ')}.\n\n${CHANGES_OF_ROLES}`;
}

function listFields(scope: Scope): string {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ name, extensions }) => {
          if (type.getInterfaces().some((parent) => name in parent.getFields())) return false;
          const missingScope = extensions.needs as Need | undefined;
          return missingScope !== undefined && findScope(missingScope) === scope;
        })
        .map(({ name }) => (type.name === 'Mutation' ? name : `${type.name}.${name}`)),
    );
  if (fields.length === 0) return '';
  return `\nGraphQL: ${fields.map((name) => `\`${name}\``).join(', ')}.\n`;
}

const INTRODUCTION = `# Scopes

A scope says what an API key may do. \`createApiKey\` takes a list of them; a caller can only give scopes that it has. Without the
scope that a field or an endpoint needs, GraphQL returns an error with the code FORBIDDEN, and REST responds with 403. Both name the scope.
The endpoints of \`/v1\` need the scope of the GraphQL field that does the same; their descriptions name it.

Builders' bearer tokens have all scopes in the projects of their orgs. Their [role](#roles) decides what they may do with an org itself. End users'
tokens have permissions instead: CONNECT, INSTALL, READ and WRITE_RECORDS. Do not confuse either with the OAuth scopes of a provider app, which a customer grants to the builder.

Written by \`npx vitest run test/docs/scopes.test.ts -u\`.
`;

const ROLES = `## Roles

A builder has a role in each of their orgs. A member (\`MEMBER\`) works in all of its projects, and may leave it. An admin (\`ADMIN\`) also manages the org:
only admins remove other members, add builders with \`addMember\`, invite admins, and give \`org:write\` to an API key. These mutations need an admin:`;

const CHANGES_OF_ROLES = `The creator of an org is an admin. An invite has the role that the person gets, which is \`MEMBER\` by default. A builder who joins by a claimed domain is a
member. \`updateMember\` changes a role within a second. The last admin can't leave, be removed or get another role.

An API key has no role, because it belongs to a project and not to a person. With \`org:write\`, it invites members and revokes invites. It stays valid when
the builder who created it is removed or becomes a member: delete it if they know its value.
`;
