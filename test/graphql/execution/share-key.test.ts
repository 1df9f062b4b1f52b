/** Subscribers with equal keys share the execution of events. */
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { EndUserViewer } from '../../../src/domain/viewer/end-user.ts';
import {
  createViewerKey,
  prepareOperationKey,
} from '../../../src/graphql/plugins/use-shared-subscriptions.ts';

function createKeys(document: DocumentNode) {
  return prepareOperationKey(document, document.definitions[0] as OperationDefinitionNode);
}

const createKey = createKeys(
  parse(`subscription S($p: String!, $after: String, $n: Int = 2, $with: Boolean = true) {
  notificationEvents(projectIdOrName: $p, after: $after) {
    cursor node { id @include(if: $with) topics(first: $n) { nodes { id } } }
  }
}`),
);

test('ignores the position where a stream starts', () => {
  expect(createKey({ p: 'demo', after: 'x' })).toBe(createKey({ p: 'other', after: 'y' }));
});

test('distinguishes other values, a default, and null', () => {
  const keys = [{}, { n: null }, { n: 3 }, { with: false }, { n: 3, with: false }].map(
    (variables) => createKey({ p: 'demo', ...variables }),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test('distinguishes operations, callers and scopes', () => {
  const other = createKeys(parse('subscription { operation(id: "a") { id } }'));
  expect(other(null)).not.toBe(createKey({ p: 'demo' }));
  expect(other(null)).toBe(other({}));
  const ids = { id: 'key_1', projectId: 'prj_1', orgId: 'org_1' };
  const key = { kind: 'API_KEY' as const, ...ids, allowedOrigins: [] };
  const keys = [
    createViewerKey({ ...key, scopes: ['read'] }),
    createViewerKey({ ...key, scopes: ['read', 'org:read'] }),
    createViewerKey({ ...key, id: 'key_2', scopes: ['read'] }),
    createViewerKey({ ...key, orgId: 'org_2', scopes: ['read'] }),
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
    createViewerKey(user),
    createViewerKey({ ...user, id: 'grp_1 csm_2', consumerId: 'csm_2' }),
    createViewerKey({ ...user, id: 'grp_2 csm_1', groupId: 'grp_2' }),
    createViewerKey({ ...user, projectId: 'prj_2' }),
    createViewerKey({ ...user, integrationIds: [] }),
    createViewerKey({ ...user, integrationIds: ['int_1'] }),
    createViewerKey({ ...user, permissions: ['CONNECT', 'INSTALL'] }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(createViewerKey({ ...user, expireTime: new Date(0) })).toBe(keys[0]);
});
