/** Rules for the members and the outcomes of a write. */
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
const createSingleWrite = (overrides: object = {}) =>
  createWrite({ record: createMappedContact(), ...overrides });
const createBatchWrite = (overrides: object = {}) =>
  createWrite({ batch: [{ record: createMappedContact() }], ...overrides });
const createAsynchronousWrite = (overrides: object = {}) =>
  createSingleWrite({ mode: 'asynchronous', ...overrides });
const NO_EMAIL = { record: { lastname: 'No email' } };

/** Writes over REST, and returns the response even if the write failed. */
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
const createSurfaceRule = (
  title: string,
  check: (write: Write, inCapitals: boolean) => unknown,
): Rule => ({
  title,
  rest: (fixture) => check((members) => writeByRest(fixture, members), false),
  graphql: (fixture) => check((members) => writeByGraphql(fixture, members), true),
});

const outcomeRules: Rule[] = [
  createSurfaceRule('A synchronous write returns its result.', async (write) => {
    const { result } = await write({ record: createMappedContact() });
    expect(result).toMatchObject({ success: true, recordId: expect.any(String) });
  }),
  createSurfaceRule(
    'An asynchronous write returns only the id of its operation.',
    async (write, inCapitals) => {
      const mode = inCapitals ? 'ASYNCHRONOUS' : 'asynchronous';
      const response = await write({ mode, record: createMappedContact() });
      expect(response).toMatchObject({ operationId: expect.stringMatching(/^opr_/) });
      expect(response.result ?? null).toBe(null);
    },
  ),
  createSurfaceRule('A record is created, updated and deleted.', async (write, inCapitals) => {
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
  createSurfaceRule('A batch writes its valid records by default.', async (write) => {
    const { results } = await write({ batch: [{ record: createMappedContact() }, NO_EMAIL] });
    expect(results).toMatchObject([{ success: true }, { success: false }]);
  }),
  createSurfaceRule(
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
const createWriteRule = (title: string, { accepted, refused }: Examples) =>
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

const memberRules: Rule[] = [
  createWriteRule('A write has `record` or `batch`, and not both.', {
    accepted: [createSingleWrite(), createBatchWrite()],
    refused: [
      [createSingleWrite({ batch: [{ record: createMappedContact() }] }), 'record'],
      [createWrite({}), 'record'],
    ],
  }),
  createWriteRule('`autoBatchPolicy` is for asynchronous writes of a single record.', {
    accepted: [createAsynchronousWrite({ autoBatchPolicy })],
    refused: [
      [createSingleWrite({ autoBatchPolicy }), 'autoBatchPolicy'],
      [createBatchWrite({ autoBatchPolicy, mode }), 'autoBatchPolicy'],
    ],
  }),
  createWriteRule('`retryPolicy` is for asynchronous writes, and ignored with `autoBatchPolicy`.', {
    accepted: [
      createAsynchronousWrite({ retryPolicy: { deadlineHours: 2 } }),
      createAsynchronousWrite({ retryPolicy: { deadlineHours: 2 }, autoBatchPolicy }),
    ],
    refused: [[createSingleWrite({ retryPolicy: { deadlineHours: 2 } }), 'retryPolicy']],
  }),
  createWriteRule('`batchPolicy` requires a batch.', {
    accepted: [createBatchWrite({ batchPolicy: { allOrNone: false } })],
    refused: [[createSingleWrite({ batchPolicy: { allOrNone: false } }), 'batchPolicy']],
  }),
  createWriteRule('A batch creates or updates records, and does not delete them.', {
    accepted: [
      createBatchWrite(),
      createBatchWrite({
        type: 'update',
        batch: [{ record: { id: 'unknown', lastname: 'New' } }, { record: { id: 'unknown' } }],
        mode,
      }),
    ],
    refused: [[createBatchWrite({ type: 'delete' }), 'batch']],
  }),
  createWriteRule('A deletion accepts only the id of the record.', {
    accepted: [],
    refused: [
      [createWrite({ type: 'delete', record: { id: '1', lastname: 'New' } }), 'record.lastname'],
      [createWrite({ type: 'delete', record: {} }), 'record.id'],
    ],
  }),
  createWriteRule('`associations` are for a single record.', {
    accepted: [createSingleWrite({ associations })],
    refused: [[createBatchWrite({ associations }), 'associations']],
  }),
];

/** Writes contacts of a provider that supports neither associations nor headers. */
const stripeBody: BodyEndpoint = {
  ...writeBody,
  async send(fixture, body) {
    return fixture.request(
      'POST',
      `${fixture.base}/integrations/${await installStripe(fixture)}/objects/customers`,
      body,
    );
  },
  extraInput: async (fixture) => ({
    projectIdOrName: fixture.tenant.projectName,
    integrationIdOrName: await installStripe(fixture),
    objectName: 'customers',
  }),
};

async function installStripe(fixture: Fixture): Promise<string> {
  const name = fixture.createUniqueName('stripe');
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
const targetRules: Rule[] = [
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
      stripeBody,
      async (fetchOutcome) =>
        expect(await fetchOutcome(createSingleWrite(member))).toMatchObject(
          matchRefusal(`${Object.keys(member)}: are not supported by Stripe`, 422),
        ),
    ),
  ),
];

/** Waits until all operations have ended, and expects that they succeeded. */
async function expectSuccess({ get, base, app, services }: Fixture, ids: string[]) {
  await using _jobs = await startWriteJobs(app);
  const { prisma } = services.database;
  // Reads the database directly, because repeated queries for each operation would delay the work.
  const where = { id: { in: ids }, status: { not: 'IN_PROGRESS' } } as const;
  const countEnded = () => prisma.operation.count({ where });
  await expect.poll(countEnded, { interval: 100 }).toBe(ids.length);
  const fetchStatus = async (id: string) => (await get(`${base}/operations/${id}`)).status;
  expect(await Promise.all(ids.map(fetchStatus))).toEqual(ids.map(() => 'success'));
}

/** Creates a write that is collected only with writes that have the same value in their header. */
const createCollectedWrite = (value: string, maxDelayMinutes: number) =>
  createAsynchronousWrite({
    autoBatchPolicy: { maxDelayMinutes },
    headers: [{ key: 'x-sandbox-trace', value }],
  });

const autoBatchRules: Rule[] = [
  {
    title: 'Single writes with `autoBatchPolicy` are executed together when 100 have accumulated.',
    async rest(fixture) {
      const write = () => writeByRest(fixture, createCollectedWrite('hundred', 1440));
      const responses: Awaited<ReturnType<typeof write>>[] = [];
      // More concurrent writes would wait too long for a connection on a busy machine.
      while (responses.length < 100)
        responses.push(...(await Promise.all(Array.from({ length: 25 }, write))));
      expect(responses.filter(({ operationId }) => !operationId)).toEqual([]);
      await expectSuccess(
        fixture,
        responses.map(({ operationId }) => operationId),
      );
    },
  },
  {
    title:
      'Single writes with `autoBatchPolicy` are executed earlier when the maximum delay of the first one has passed.',
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
  rules: [...outcomeRules, ...memberRules, ...targetRules, ...autoBatchRules],
  choices: [
    {
      open: 'Fields of `retryPolicy` and `autoBatchPolicy`, and the maximum delay of auto-batching',
      ...createWriteRule(
        '`retryPolicy` has `deadlineHours`, 1 to 48. `autoBatchPolicy` has `maxDelayMinutes`, 1 to 1440, and `retryDeadlineHours`.',
        {
          accepted: [
            createAsynchronousWrite({ retryPolicy: { deadlineHours: 48 } }),
            createAsynchronousWrite({
              autoBatchPolicy: { maxDelayMinutes: 1440, retryDeadlineHours: 48 },
            }),
          ],
          refused: [
            [createAsynchronousWrite({ retryPolicy: { deadlineHours: 49 } }), 'deadlineHours'],
            [
              createAsynchronousWrite({ autoBatchPolicy: { maxDelayMinutes: 1441 } }),
              'maxDelayMinutes',
            ],
            [
              createAsynchronousWrite({ autoBatchPolicy: { maxDelayMinutes: 0 } }),
              'maxDelayMinutes',
            ],
          ],
        },
      ),
    },
    {
      open: 'The mode of a write without `mode`',
      ...createSurfaceRule('A write without `mode` is synchronous.', async (write) => {
        expect((await write({ record: createMappedContact() })).result).toBeTruthy();
      }),
    },
  ],
};
