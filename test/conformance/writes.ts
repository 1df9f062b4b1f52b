/** Members of a write, and its outcomes. */
import { expect } from 'vitest';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import {
  ACCEPTED,
  type BodyEndpoint,
  createOutcomeRule,
  matchRefusal,
} from '../support/conformance/outcome.ts';
import type { Rule, Section } from '../support/conformance/rule.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { connectAndInstall, createIntegrationContent } from '../support/fixtures/integrations.ts';
import { startWriteJobs, WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { createRestIntegration } from '../support/rest/rest-installation.ts';
import { writeBody } from './bodies-of-writes.ts';

const createWrite = (overrides: object) => ({ groupRef: 'acme', type: 'create', ...overrides });
const createSingle = (overrides: object = {}) =>
  createWrite({ record: createMappedContact(), ...overrides });
const createBatch = (overrides: object = {}) =>
  createWrite({ batch: [{ record: createMappedContact() }], ...overrides });
const createAsynchronous = (overrides: object = {}) =>
  createSingle({ mode: 'asynchronous', ...overrides });
const NO_EMAIL = { record: { lastname: 'No email' } };

/** Returns the response of a write over REST, also of a failed one. */
const writeByRest = async ({ request, objectPath }: Fixture, members: object) =>
  (await request('POST', objectPath, createWrite(members))).body;
const writeByGraphql = async ({ tenant, createWriteInput }: Fixture, overrides: object) =>
  (await tenant.query(WRITE_RECORDS, { input: createWriteInput({ type: 'CREATE', ...overrides }) }))
    .writeRecords;

type Write = (overrides: object) => Promise<{
  operationId: string;
  result?: { success: boolean; recordId: string; data?: object } | null;
  results?: { success: boolean }[] | null;
}>;
const onBothSurfaces = (
  title: string,
  check: (write: Write, inCapitals: boolean) => unknown,
): Rule => ({
  title,
  rest: (fixture) => check((members) => writeByRest(fixture, members), false),
  graphql: (fixture) => check((members) => writeByGraphql(fixture, members), true),
});

const outcomes: Rule[] = [
  onBothSurfaces('A synchronous write returns its result.', async (write) => {
    const { result } = await write({ record: createMappedContact() });
    expect(result).toMatchObject({ success: true, recordId: expect.any(String) });
  }),
  onBothSurfaces(
    'An asynchronous write returns only the id of its operation.',
    async (write, inCapitals) => {
      const mode = inCapitals ? 'ASYNCHRONOUS' : 'asynchronous';
      const response = await write({ mode, record: createMappedContact() });
      expect(response).toMatchObject({ operationId: expect.stringMatching(/^opr_/) });
      expect(response.result ?? null).toBe(null);
    },
  ),
  onBothSurfaces('A record is created, updated and deleted.', async (write, inCapitals) => {
    const toType = (word: string) => (inCapitals ? word.toUpperCase() : word);
    const { result } = await write({ record: createMappedContact() });
    const { recordId: id } = result as { recordId: string };
    for (const [type, record] of [
      ['update', { id, lastname: 'New' }],
      ['delete', { id }],
    ] as const) {
      const changed = await write({ type: toType(type), record });
      expect(changed.result).toMatchObject({ success: true, recordId: id });
    }
  }),
  onBothSurfaces('A batch writes its valid records by default.', async (write) => {
    const { results } = await write({ batch: [{ record: createMappedContact() }, NO_EMAIL] });
    expect(results).toMatchObject([{ success: true }, { success: false }]);
  }),
  onBothSurfaces(
    'With `allOrNone`, a batch fails as a whole if one record fails.',
    async (write) => {
      const batch = [{ record: createMappedContact() }, NO_EMAIL];
      const { results } = await write({ batch, batchPolicy: { allOrNone: true } });
      expect(results).toMatchObject([{ success: false }, { success: false }]);
    },
  ),
];

interface Examples {
  accepted: object[];
  /** Each write with the path of its invalid member. */
  refused: [write: object, path: string][];
}
const writeRule = (title: string, { accepted, refused }: Examples) =>
  createOutcomeRule(title, writeBody, async (fetchOutcome) => {
    for (const members of accepted) {
      expect(await fetchOutcome({ ...members })).toMatchObject(ACCEPTED);
    }
    for (const [members, path] of refused) {
      expect(await fetchOutcome({ ...members })).toMatchObject(matchRefusal(path));
    }
  });

const autoBatchPolicy = { maxDelayMinutes: 1440 };
const associations = [
  { to: { id: '1' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 1 }] },
];
const mode = 'asynchronous';

const bodies: Rule[] = [
  writeRule('A write has `record` or `batch`, and not both.', {
    accepted: [createSingle(), createBatch()],
    refused: [
      [createSingle({ batch: [{ record: createMappedContact() }] }), 'record'],
      [createWrite({}), 'record'],
    ],
  }),
  writeRule('`autoBatchPolicy` is for asynchronous writes of a single record.', {
    accepted: [createAsynchronous({ autoBatchPolicy })],
    refused: [
      [createSingle({ autoBatchPolicy }), 'autoBatchPolicy'],
      [createBatch({ autoBatchPolicy, mode }), 'autoBatchPolicy'],
    ],
  }),
  writeRule('`retryPolicy` is for asynchronous writes, and ignored with `autoBatchPolicy`.', {
    accepted: [
      createAsynchronous({ retryPolicy: { deadlineHours: 2 } }),
      createAsynchronous({ retryPolicy: { deadlineHours: 2 }, autoBatchPolicy }),
    ],
    refused: [[createSingle({ retryPolicy: { deadlineHours: 2 } }), 'retryPolicy']],
  }),
  writeRule('`batchPolicy` requires a batch.', {
    accepted: [createBatch({ batchPolicy: { allOrNone: false } })],
    refused: [[createSingle({ batchPolicy: { allOrNone: false } }), 'batchPolicy']],
  }),
  writeRule('A batch creates or updates, and does not delete.', {
    accepted: [
      createBatch(),
      createBatch({
        type: 'update',
        batch: [{ record: { id: 'unknown', lastname: 'New' } }, { record: { id: 'unknown' } }],
        mode,
      }),
    ],
    refused: [[createBatch({ type: 'delete' }), 'batch']],
  }),
  writeRule('A deletion accepts only the id of the record.', {
    accepted: [],
    refused: [
      [createWrite({ type: 'delete', record: { id: '1', lastname: 'New' } }), 'record.lastname'],
      [createWrite({ type: 'delete', record: {} }), 'record.id'],
    ],
  }),
  writeRule('`associations` are for a single record.', {
    accepted: [createSingle({ associations })],
    refused: [[createBatch({ associations }), 'associations']],
  }),
];

/** Writes contacts of a provider that supports neither associations nor headers. */
const otherProviderBody: BodyEndpoint = {
  ...writeBody,
  async send(fixture, body) {
    return fixture.request(
      'POST',
      `${fixture.base}/integrations/${await installOther(fixture)}/objects/customers`,
      body,
    );
  },
  extraInput: async (fixture) => ({
    projectIdOrName: fixture.tenant.projectName,
    integrationIdOrName: await installOther(fixture),
    objectName: 'customers',
  }),
};

async function installOther(fixture: Fixture): Promise<string> {
  const name = fixture.createUniqueName('other');
  const write = { objects: [{ objectName: 'customers' }] };
  await createRestIntegration(
    fixture,
    createIntegrationContent(name, { provider: 'stripe', read: undefined, write }),
  );
  const groupRef = 'acme';
  const account = { groupRef, provider: 'stripe', apiKey: 'key', skipCheck: true };
  await generateConnection(fixture.tenant, account);
  await fixture.post(`${fixture.base}/integrations/${name}/installations`, {
    groupRef,
    config: { content: { write: { objects: { customers: { objectName: 'customers' } } } } },
  });
  return name;
}

/** Rules that depend on the config of the installation and on the provider. */
const targets: Rule[] = [
  createOutcomeRule(
    'A deletion must be enabled for the object in the config of the installation.',
    writeBody,
    async (fetchOutcome, { tenant, installation, createUniqueName }) => {
      const groupRef = createUniqueName('group');
      const objects = [{ objectName: 'contacts' }];
      const config = { read: objects, write: objects };
      await connectAndInstall(tenant, { id: installation.integrationId }, { groupRef, config });
      expect(await fetchOutcome({ groupRef, type: 'delete', record: { id: 'c1' } })).toMatchObject(
        matchRefusal('is not enabled', 422),
      );
    },
  ),
  ...[{ associations }, { headers: [{ key: 'x-trace', value: '1' }] }].map((member) =>
    createOutcomeRule(
      `\`${Object.keys(member)}\` are only for providers that support them.`,
      otherProviderBody,
      async (fetchOutcome) =>
        expect(await fetchOutcome(createSingle(member))).toMatchObject(
          matchRefusal(`${Object.keys(member)}: are not supported by Stripe`, 422),
        ),
    ),
  ),
];

/** Waits until all operations have ended. Expects that they succeeded. */
async function expectSuccess({ get, base, app, services }: Fixture, ids: string[]) {
  await using _jobs = await startWriteJobs(app);
  const { prisma } = services.database;
  // Reads the database directly, because repeated queries for each operation would delay the work.
  const where = { id: { in: ids }, status: { not: 'IN_PROGRESS' } } as const;
  const countEnded = () => prisma.operation.count({ where });
  await expect.poll(countEnded, { interval: 100, timeout: 45_000 }).toBe(ids.length);
  const fetchStatus = async (id: string) => (await get(`${base}/operations/${id}`)).status;
  expect(await Promise.all(ids.map(fetchStatus))).toEqual(ids.map(() => 'success'));
}

/** Creates a write in a batch of its own: writes with different headers are collected separately. */
const createCollectedWrite = (value: string, maxDelayMinutes: number) =>
  createAsynchronous({
    autoBatchPolicy: { maxDelayMinutes },
    headers: [{ key: 'x-sandbox-trace', value }],
  });

const autoBatches: Rule[] = [
  {
    title: 'Single writes with `autoBatchPolicy` are executed together when 100 have accumulated.',
    async rest(fixture) {
      const write = () => writeByRest(fixture, createCollectedWrite('hundred', 1440));
      const responses = await Promise.all(Array.from({ length: 100 }, write));
      expect(responses.filter(({ operationId }) => !operationId)).toEqual([]);
      await expectSuccess(
        fixture,
        responses.map(({ operationId }) => operationId),
      );
    },
  },
  {
    title: 'They are executed earlier when the maximum delay of the first write has passed.',
    async rest(fixture) {
      const { operationId } = await writeByRest(fixture, createCollectedWrite('delayed', 1));
      fixture.clock.aheadMs = 61_000;
      try {
        await expectSuccess(fixture, [operationId]);
      } finally {
        fixture.clock.aheadMs = 0;
      }
    },
  },
];

export const writes: Section = {
  title: 'Writes',
  rules: [...outcomes, ...bodies, ...targets, ...autoBatches],
  choices: [
    {
      open: 'Fields of `retryPolicy` and `autoBatchPolicy`, and the maximum delay of auto-batching',
      ...writeRule(
        '`deadlineHours`, 1 to 48; `maxDelayMinutes`, 1 to 1440, and `retryDeadlineHours`.',
        {
          accepted: [
            createAsynchronous({ retryPolicy: { deadlineHours: 48 } }),
            createAsynchronous({
              autoBatchPolicy: { maxDelayMinutes: 1440, retryDeadlineHours: 48 },
            }),
          ],
          refused: [
            [createAsynchronous({ retryPolicy: { deadlineHours: 49 } }), 'deadlineHours'],
            [createAsynchronous({ autoBatchPolicy: { maxDelayMinutes: 1441 } }), 'maxDelayMinutes'],
            [createAsynchronous({ autoBatchPolicy: { maxDelayMinutes: 0 } }), 'maxDelayMinutes'],
          ],
        },
      ),
    },
    {
      open: 'The mode of a write without `mode`',
      ...onBothSurfaces('Synchronous.', async (write) => {
        expect((await write({ record: createMappedContact() })).result).toBeTruthy();
      }),
    },
  ],
};
