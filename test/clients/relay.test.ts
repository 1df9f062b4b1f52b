/**
 * Tests that relay-compiler compiles documents of an application.
 *
 * @module-tag all/walk
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-relay-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = `
graphql\`
  query AppQuery($project: String!) {
    project(idOrName: $project) {
      ...AppOperations
      ...AppConnections
    }
  }
\`;
graphql\`
  fragment AppOperations on Project
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" })
    @refetchable(queryName: "AppOperationsPage") {
    operations(first: $count, after: $cursor) @connection(key: "App_operations") {
      edges { node { id status ...AppOperation } }
    }
  }
\`;
graphql\`
  fragment AppOperation on Operation @refetchable(queryName: "AppOperationRefetch") {
    id
    result
    metadata { progress { recordsProcessed } }
  }
\`;
graphql\`
  fragment AppConnections on Project
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" })
    @refetchable(queryName: "AppConnectionsPage") {
    connections(last: $count, before: $cursor) @connection(key: "App_connections") {
      edges { node { id group { groupName } } }
    }
  }
\`;
graphql\`
  mutation AppCreateTopic($input: CreateTopicInput!, $connections: [ID!]!) {
    createTopic(input: $input) {
      topic @prependNode(connections: $connections, edgeTypeName: "TopicEdge") { id name }
    }
  }
\`;
`;

test('compiles pagination in both directions and refetching with relay-compiler', async () => {
  copyFileSync(join(ROOT, 'schema.graphql'), join(folder, 'schema.graphql'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'App.js'), SOURCE);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript' };
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config));
  const compiler = join(ROOT, 'node_modules', 'relay-compiler', 'cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: folder });
  expect(readdirSync(join(folder, 'src', '__generated__'))).toEqual(
    expect.arrayContaining([
      'AppOperationsPage.graphql.js',
      'AppOperationRefetch.graphql.js',
      'AppConnectionsPage.graphql.js',
      'AppCreateTopic.graphql.js',
    ]),
  );
});
