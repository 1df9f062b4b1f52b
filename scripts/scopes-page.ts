/** The page docs/scopes.md: every scope, and the fields of the schema that need it. */
import { isInterfaceType, isObjectType } from 'graphql';
import { findScope, isForAdmins, type Need } from '../src/domain/access/viewer/needs.ts';
import { ALL_SCOPES, SCOPES, type Scope } from '../src/domain/access/viewer/scopes.ts';
import { schema } from '../src/graphql/schema/schema.ts';

export function formatScopesPage(): string {
  const sections = ALL_SCOPES.map(
    (scope) => `## ${scope}\n\n${wrapLines(SCOPES[scope])}\n${listFields(scope)}`,
  );
  return `${INTRODUCTION}\n${formatRoles()}\n${sections.join('\n')}`;
}

function formatRoles(): string {
  const names = Object.values(schema.getMutationType()?.getFields() ?? {})
    .filter(({ extensions }) => isForAdmins(extensions.needs as Need))
    .map(({ name }) => `\`${name}\``);
  return `${ROLES}\n${wrapLines(`${names.join(', ')}.`)}\n\n${CHANGES_OF_ROLES}`;
}

function listFields(scope: Scope): string {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ name, extensions }) => {
          if (type.getInterfaces().some((parent) => name in parent.getFields())) return false;
          const need = extensions.needs as Need | undefined;
          return need !== undefined && findScope(need) === scope;
        })
        .map(({ name }) => (type.name === 'Mutation' ? name : `${type.name}.${name}`)),
    );
  if (fields.length === 0) return '';
  return `\n${wrapLines(`GraphQL: ${fields.map((name) => `\`${name}\``).join(', ')}.`)}\n`;
}

/** Breaks a paragraph at spaces into lines of at most 120 characters. */
function wrapLines(paragraph: string): string {
  return paragraph.replaceAll(/(.{1,120})(?: |$)/g, '$1\n').trimEnd();
}

const INTRODUCTION = `# Scopes

The scopes of an API key say which operations it can use. \`createApiKey\` takes a list of scopes, and a caller can
only give the scopes that it has itself. If a key does not have the scope that a field or an endpoint needs, GraphQL
returns an error with the code FORBIDDEN, and REST responds with 403. Both name the scope. An endpoint of \`/v1\` needs
the scope of the GraphQL field that does the same, and its description names the scope.

A builder's bearer token has all scopes in the projects of the builder's orgs. The [role](#roles) of the builder
decides what they can do with an org itself. An end user's token has permissions instead: CONNECT, INSTALL, READ,
WRITE_RECORDS and APPROVE. OAuth scopes, which a customer grants to a provider app, are something else.

\`npm run schema\` generates this page.
`;

const ROLES = `## Roles

A builder has a role in each of their orgs. A member (\`MEMBER\`) works in all projects of the org, and can leave it.
An admin (\`ADMIN\`) also manages the org. Only admins can remove other members, add builders with \`addMember\`, invite
admins, and give \`org:write\` to an API key. These mutations need an admin:`;

const CHANGES_OF_ROLES = `The creator of an org is an admin. An invite names the role that the person gets, which is \`MEMBER\` by default. A
builder who joins by a claimed domain is a member. \`updateMember\` changes a role within a second. The last admin of
an org can't leave, be removed or get another role.

An API key has no role, because it belongs to a project and not to a person. A key with \`org:write\` can invite
members and revoke invites. It stays valid when the builder who created it is removed or becomes a member: delete the
key if the builder knows its value.
`;
