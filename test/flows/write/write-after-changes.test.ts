/** The cached target of writes is not used after a change that affects it. */
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp, type TestApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import {
  createIntegration,
  createIntegrationContent,
  insertDestination,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import {
  createContact,
  createWriter,
  WRITE_RECORDS,
  type Writer,
} from '../../support/fixtures/writes.ts';

const app = await getSharedApp();

/** Creates a writer whose write target is cached, as after its first write. */
async function createCachedWriter(target: TestApp = app): Promise<Writer> {
  const writer = await createWriter(target);
  await writer.write({ record: createContact() });
  await writer.write({ record: createContact() });
  return writer;
}

/** Runs the mutation with this name in the writer's project. */
async function runMutation(writer: Writer, name: string, members: object): Promise<void> {
  const inputType = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const input = { projectIdOrName: writer.projectId, ...members };
  await writer.query(
    `mutation Change($input: ${inputType}!) { ${name}(input: $input) { __typename } }`,
    {
      input,
    },
  );
}

const createWriteContent = (...names: string[]) => ({
  write: { objects: names.map((objectName) => ({ objectName })) },
});

interface Change {
  name: string;
  apply: (writer: Writer) => Promise<void>;
  code: string;
  message: RegExp;
}
const CHANGES: Change[] = [
  {
    name: 'a revision without the object',
    apply: (writer) =>
      runMutation(writer, 'createRevision', {
        integrationIdOrName: 'crm',
        revision: {
          specVersion: '1.0.0',
          content: createIntegrationContent('crm', {
            read: undefined,
            ...createWriteContent('companies'),
          }),
        },
      }),
    code: 'BAD_USER_INPUT',
    message: /is not an object that the integration writes/,
  },
  {
    name: 'a config without the object',
    apply: (writer) =>
      runMutation(writer, 'updateInstallation', {
        installationId: writer.installationId,
        config: { write: [{ objectName: 'companies' }] },
      }),
    code: 'UNPROCESSABLE',
    message: /is not written by the installation/,
  },
  {
    name: 'a deleted installation',
    apply: (writer) =>
      runMutation(writer, 'deleteInstallation', { installationId: writer.installationId }),
    code: 'NOT_FOUND',
    message: /has not installed/,
  },
  {
    name: 'an erased group',
    apply: (writer) => runMutation(writer, 'eraseGroup', { groupRef: 'acme' }),
    code: 'BAD_USER_INPUT',
    message: /is not a group of the project/,
  },
  {
    name: 'an erased consumer',
    apply: (writer) => runMutation(writer, 'eraseConsumer', { consumerRef: 'ann' }),
    code: 'NOT_FOUND',
    message: /has not installed/,
  },
];

test.each(CHANGES)('refuses the next write after $name', async ({ apply, code, message }) => {
  const writer = await createCachedWriter();
  await apply(writer);
  const refusal = await writer.expectRefusal(
    WRITE_RECORDS,
    writer.createVariables({ record: createContact() }),
  );
  expect(refusal.code).toBe(code);
  expect(JSON.stringify(refusal.problem)).toMatch(message);
  const { prisma } = app.app.services.database;
  const { projectId } = writer;
  // Erasing a group erases its operations.
  expect(await prisma.operation.count({ where: { projectId } })).toBeLessThanOrEqual(2);
});

test('accepts a refused write once the config allows it', async () => {
  const writer = await createCachedWriter();
  const { result } = await writer.write({ record: createContact() });
  const deletion = { type: 'DELETE', record: { id: result.recordId } };
  const createConfig = (deletionEnabled: boolean) => ({
    input: {
      projectIdOrName: writer.projectId,
      installationId: writer.installationId,
      config: { write: [{ objectName: 'contacts', deletionEnabled }] },
    },
  });
  await writer.query(UPDATE_INSTALLATION, createConfig(false));
  await writer.write({ record: createContact() });
  expect((await writer.expectRefusal(WRITE_RECORDS, writer.createVariables(deletion))).code).toBe(
    'UNPROCESSABLE',
  );
  await writer.query(UPDATE_INSTALLATION, createConfig(true));
  expect((await writer.write(deletion)).result.success).toBe(true);
});

test('uses new credentials for the next write', async () => {
  const writer = await createCachedWriter();
  const { connectionId } = writer;
  await runMutation(writer, 'updateConnection', {
    connectionId,
    credentials: { apiKey: 'wrong' },
    skipCheck: true,
  });
  const { result } = await writer.write({ record: createContact() });
  expect(result).toMatchObject({ success: false, recordId: null });
  await runMutation(writer, 'updateConnection', {
    connectionId,
    credentials: { apiKey: 'sandbox-key' },
  });
  expect((await writer.write({ record: createContact() })).result.success).toBe(true);
});

test('finds the project of a write only by its current name', async () => {
  const writer = await createCachedWriter();
  const [name, newName] = [`a-${crypto.randomUUID()}`, `b-${crypto.randomUUID()}`];
  await runMutation(writer, 'updateProject', { name });
  const write = (projectIdOrName: string) =>
    writer.write({ projectIdOrName, record: createContact() });
  await write(name);
  expect((await write(name.toUpperCase())).result.success).toBe(true);
  await runMutation(writer, 'updateProject', { name: newName });
  const oldNameInput = writer.createVariables({ projectIdOrName: name, record: createContact() });
  expect((await writer.expectRefusal(WRITE_RECORDS, oldNameInput)).code).toBe('NOT_FOUND');
  expect((await write(newName)).result.success).toBe(true);
});

test('refuses a caller without access to a target that another caller has written to', async () => {
  const writer = await createCachedWriter();
  const outsider = await createWriter(app);
  const input = writer.createVariables({ record: createContact() });
  expect((await outsider.expectRefusal(WRITE_RECORDS, input)).code).toBe('NOT_FOUND');
  const otherUser = await createEndUser(app, writer, {
    groupRef: 'rival',
    consumerRef: 'bob',
    permissions: ['WRITE_RECORDS'],
  });
  const { code, problem } = await otherUser.expectRefusal(WRITE_RECORDS, input);
  expect(code).toBe('BAD_USER_INPUT');
  expect(JSON.stringify(problem)).toMatch(/is not a group of the project/);
});

test("accepts an end user's write if the token allows the integration", async () => {
  const writer = await createCachedWriter();
  const input = writer.createVariables({ record: createContact() });
  const permissions = ['WRITE_RECORDS'];
  const allowed = { permissions, integrations: [writer.integrationId] };
  const { writeRecords } = await (await createEndUser(app, writer, allowed)).query(
    WRITE_RECORDS,
    input,
  );
  expect(writeRecords.result.success).toBe(true);
  const { id } = await createIntegration(
    app,
    writer,
    createIntegrationContent('other', createWriteContent('contacts')),
  );
  const otherUser = await createEndUser(app, writer, { permissions, integrations: [id] });
  expect((await otherUser.expectRefusal(WRITE_RECORDS, input)).code).toBe('NOT_FOUND');
});

test('returns NOT_FOUND for a deleted installation, even with too many pending deliveries', async () => {
  await using limitedApp = await createTestApp({ env: { LIMIT_PENDING_DELIVERIES: '1' } });
  const writer = await createCachedWriter(limitedApp);
  const { projectId, installationId } = writer;
  const input = writer.createVariables({ mode: 'ASYNCHRONOUS', record: createContact() });
  await runMutation(writer, 'deleteInstallation', { installationId });
  const { id: destinationId } = await insertDestination(limitedApp, writer, 'slow');
  await insertRows(limitedApp).delivery({ projectId, destinationId, nextAttemptTime: new Date() });
  expect((await writer.expectRefusal(WRITE_RECORDS, input)).code).toBe('NOT_FOUND');
});
