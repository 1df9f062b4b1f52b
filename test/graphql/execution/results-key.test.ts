/** Subscribers with equal keys share the execution of events. */
import { type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { EndUserViewer } from '../../../src/domain/access/viewer/end-user.ts';
import type { Viewer } from '../../../src/domain/access/viewer/viewer.ts';
import {
  createResultsKey,
  getSharedOperation,
} from '../../../src/graphql/plugins/use-shared-subscriptions.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';

const KEY_IDS = { id: 'key_1', projectId: 'prj_1', orgId: 'org_1' };
const KEY_VIEWER: Viewer = { kind: 'API_KEY', ...KEY_IDS, allowedOrigins: [], scopes: ['read'] };
const PERSON = { id: 'bld_1', email: null, scopes: [], expireTime: null };
const BUILDER = { kind: 'BUILDER' as const, ...PERSON };

function createKeyFunction(text: string) {
  const document = parse(text);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const shared = getSharedOperation({ schema, document, operation });
  return (variables: Record<string, unknown>, viewer: Viewer = KEY_VIEWER) =>
    createResultsKey(shared, variables, viewer);
}

const createKey =
  createKeyFunction(`subscription S($p: String!, $after: String, $n: Int = 2, $with: Boolean = true) {
  notificationEvents(projectIdOrName: $p, after: $after) {
    cursor node { id @include(if: $with) topics(first: $n) { nodes { id } } }
  }
}`);

test('ignores the position where a stream starts', () => {
  expect(createKey({ p: 'demo', after: 'x' })).toBe(createKey({ p: 'other', after: 'y' }));
});

test('distinguishes other values, a default, and null', () => {
  const keys = [{}, { n: null }, { n: 3 }, { with: false }, { n: 3, with: false }].map(
    (variables) => createKey({ p: 'demo', ...variables }),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test('distinguishes operations, callers, scopes and roles', () => {
  const createOtherKey = createKeyFunction('subscription { operation(id: "a") { id } }');
  const keys = [
    createOtherKey({}),
    createKey({}),
    createKey({}, { ...KEY_VIEWER, scopes: ['read', 'org:read'] }),
    createKey({}, { ...KEY_VIEWER, id: 'key_2' }),
    createKey({}, { ...KEY_VIEWER, orgId: 'org_2' }),
    createKey({}, { ...BUILDER, roles: new Map([['org_1', 'ADMIN']]) }),
    createKey({}, { ...BUILDER, roles: new Map([['org_1', 'MEMBER']]) }),
    createKey({}, { ...BUILDER, roles: new Map([['org_2', 'MEMBER']]) }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test('distinguishes end users by everything that their tokens contain except the expiry', () => {
  const user: EndUserViewer = {
    kind: 'END_USER',
    id: 'grp_1 csm_1',
    projectId: 'prj_1',
    orgId: 'org_1',
    groupId: 'grp_1',
    consumerId: 'csm_1',
    jwtKeyId: null,
    agent: null,
    expireTime: new Date(),
    integrationIds: null,
    permissions: ['CONNECT'],
    scopes: [],
    allowedOrigins: [],
  };
  const keys = [
    createKey({}, user),
    createKey({}, { ...user, id: 'grp_1 csm_2', consumerId: 'csm_2' }),
    createKey({}, { ...user, id: 'grp_2 csm_1', groupId: 'grp_2' }),
    createKey({}, { ...user, projectId: 'prj_2' }),
    createKey({}, { ...user, integrationIds: [] }),
    createKey({}, { ...user, integrationIds: ['int_1'] }),
    createKey({}, { ...user, permissions: ['CONNECT', 'INSTALL'] }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(createKey({}, { ...user, expireTime: new Date(0) })).toBe(keys[0]);
});
