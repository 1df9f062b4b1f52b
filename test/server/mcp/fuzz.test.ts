/**
 * Tests that no tool fails internally and no invalid value reaches a provider, whatever arguments an agent sends.
 *
 * @module-tag all/walk
 */
import fc, { type Arbitrary } from 'fast-check';
import { expect, test } from 'vitest';
import { HIGH_RATE_LIMITS } from '../../support/app.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import { installPeople, startTypedApi } from '../../support/fixtures/typed-api.ts';
import { HOSTILE_JSON, HOSTILE_TEXTS, NUMBERS } from '../../support/fuzz/fuzz-values.ts';
import { requestMcp } from '../../support/mcp/mcp-client.ts';

/** FUZZ_CALLS sets the number of calls, and FUZZ_SEED selects other calls. */
const CALL_COUNT = Number(process.env.FUZZ_CALLS ?? 400);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const CONCURRENCY = 4;

const app = await startTypedApi(HIGH_RATE_LIMITS);

/** The name of each field at the provider, and a check of the values that the provider gets. */
const FIELDS = {
  lastName: { provider: 'Last_Name', isValid: (value: unknown) => typeof value === 'string' },
  Company: { provider: 'Company', isValid: (value: unknown) => typeof value === 'string' },
  employees: { provider: 'No_of_Employees', isValid: Number.isInteger },
  revenue: { provider: 'Annual_Revenue', isValid: Number.isFinite },
  optOut: { provider: 'Email_Opt_Out', isValid: (value: unknown) => typeof value === 'boolean' },
  born: {
    provider: 'Date_of_Birth',
    isValid: (value: unknown) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  },
} as const;

const VALID_VALUES: Record<keyof typeof FIELDS, Arbitrary<unknown>> = {
  lastName: fc.string({ maxLength: 20, minLength: 1 }),
  Company: fc.string({ maxLength: 20 }),
  employees: fc.integer(),
  revenue: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  optOut: fc.boolean(),
  born: fc.constantFrom('1815-12-10', '2000-02-29'),
};

async function createLeads() {
  const tenant = await app.createTenant();
  await installPeople(app, tenant, {
    integration: 'leads',
    provider: 'zoho',
    groupRef: 'globex',
    read: {
      requiredFields: [{ fieldName: 'Last_Name', mapToName: 'lastName', valueType: 'STRING' }],
      optionalFields: [
        { fieldName: 'Company', valueType: 'STRING' },
        { fieldName: 'No_of_Employees', mapToName: 'employees', valueType: 'INT' },
        { fieldName: 'Annual_Revenue', mapToName: 'revenue', valueType: 'FLOAT' },
        { fieldName: 'Email_Opt_Out', mapToName: 'optOut', valueType: 'BOOLEAN' },
        { fieldName: 'Date_of_Birth', mapToName: 'born', valueType: 'DATE' },
      ],
    },
    config: {
      read: [
        {
          objectName: 'Leads',
          selectedFields: Object.values(FIELDS)
            .slice(1)
            .map(({ provider }) => provider),
        },
      ],
      write: [{ objectName: 'Leads', deletionEnabled: true }],
    },
  });
  return createAgent(app, tenant, {
    groupRef: 'globex',
    rules: [{ name: 'all', types: ['CREATE', 'UPDATE'], maxPerDay: 10_000 }],
    pinnedTools: [{ type: 'CREATE', objectName: 'people' }],
  });
}

const arbitraryValue: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...HOSTILE_TEXTS, ...HOSTILE_JSON, ...NUMBERS, null, true, [], {}),
  fc.jsonValue(),
);

/** Returns a usual value in most cases, and otherwise an arbitrary one. */
const arbitraryMostly = (usual: Arbitrary<unknown>, weight = 12) =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: arbitraryValue, weight: 1 });

const arbitraryFieldName = arbitraryMostly(
  fc.constantFrom(...Object.keys(FIELDS), 'id', 'Modified_Time', 'x'),
);
const values = arbitraryMostly(
  fc
    .tuple(
      fc.record(
        Object.fromEntries(
          Object.entries(VALID_VALUES).map(([name, value]) => [name, arbitraryMostly(value)]),
        ),
        { requiredKeys: ['lastName'] },
      ),
      fc.dictionary(
        fc.constantFrom('id', 'Modified_Time', 'nickname', '__proto__'),
        arbitraryValue,
        {
          maxKeys: 1,
        },
      ),
      fc.integer({ min: 0, max: 3 }),
    )
    .map(([known, unknown, chance]) => (chance === 0 ? { ...known, ...unknown } : known)),
);

/** Placeholders that are replaced by IDs of earlier results. */
const RECORD_PLACEHOLDER = '{record}';
const PROPOSAL_PLACEHOLDER = '{proposal}';
const objectName = arbitraryMostly(fc.constant('people'));
const recordId = arbitraryMostly(fc.constant(RECORD_PLACEHOLDER));
const proposalId = arbitraryMostly(
  fc.constantFrom(PROPOSAL_PLACEHOLDER, PROPOSAL_PLACEHOLDER, 'prp_00000000000000000000000000'),
);

const TOOL_ARGUMENTS: Record<string, Record<string, Arbitrary<unknown>>> = {
  search_objects: { words: fc.oneof(arbitraryValue, fc.string()) },
  describe_object: { objectName },
  read_records: {
    objectName,
    ids: arbitraryMostly(fc.array(recordId, { maxLength: 3 })),
    where: arbitraryMostly(
      fc.dictionary(fc.constantFrom('lastName', 'Company', 'x'), arbitraryValue),
    ),
    fields: arbitraryMostly(fc.array(arbitraryFieldName, { maxLength: 3 })),
    first: arbitraryMostly(fc.integer({ min: 1, max: 50 })),
    after: arbitraryValue,
  },
  propose_write: {
    objectName,
    type: arbitraryMostly(fc.constantFrom('CREATE', 'UPDATE', 'UPDATE', 'DELETE')),
    recordId,
    values,
    reason: arbitraryValue,
  },
  create_people: { values, reason: arbitraryValue },
  get_proposal: { proposalId },
  commit_write: { proposalId, payloadHash: arbitraryValue },
  get_operation: { operationId: arbitraryValue },
  nothing: {},
};
const OPTIONAL_ARGUMENTS = ['words', 'ids', 'where', 'fields', 'first', 'after', 'reason'];

interface FuzzedCall {
  name: string;
  args: unknown;
}

const arbitraryCall: Arbitrary<FuzzedCall> = fc.oneof(
  ...Object.entries(TOOL_ARGUMENTS).map(([name, members]) => ({
    weight: ['propose_write', 'create_people', 'read_records'].includes(name) ? 6 : 1,
    arbitrary: arbitraryMostly(
      fc
        .tuple(
          fc.record(members, {
            requiredKeys: Object.keys(members).filter(
              (member) => !OPTIONAL_ARGUMENTS.includes(member),
            ),
          }),
          fc.boolean(),
        )
        .map(([args, isCreate]) => {
          const { recordId: _, ...otherArguments } = args as Record<string, unknown>;
          // The creation of a record has no id.
          return name === 'propose_write' && isCreate
            ? { ...otherArguments, type: 'CREATE' }
            : args;
        }),
      20,
    ).map((args): FuzzedCall => ({ name, args })),
  })),
);

async function sendCalls(): Promise<void> {
  app.zoho.store.records.length = 0;
  const agent = await createLeads();
  const failures: unknown[] = [];
  const codes = new Map<string, number>();
  const proposals: string[] = [];

  const callTool = async (name: string, args: unknown) => {
    const response = await requestMcp(app, agent, 'tools/call', { name, arguments: args });
    const { status, result, error } = response;
    const data = result?.structuredContent;
    if (status >= 500 || error?.code === -32_603 || data?.code === 'INTERNAL_ERROR') {
      failures.push({ name, args, response });
    }
    const code = data?.code ?? data?.status ?? error?.code ?? 'OK';
    codes.set(String(code), (codes.get(String(code)) ?? 0) + 1);
    return data;
  };
  const fillPlaceholders = (value: unknown): unknown => {
    const text = JSON.stringify(value) ?? 'null';
    const { records } = app.zoho.store;
    const record = records[text.length % Math.max(records.length, 1)];
    return JSON.parse(
      text
        .replaceAll(RECORD_PLACEHOLDER, String(record?.id ?? 'none'))
        .replaceAll(
          PROPOSAL_PLACEHOLDER,
          proposals[text.length % Math.max(proposals.length, 1)] ?? 'none',
        ),
    );
  };

  const calls = fc.sample(arbitraryCall, { seed: SEED, numRuns: CALL_COUNT }).values();
  const sendRemainingCalls = async () => {
    for (const { name, args } of calls) {
      const data = await callTool(name, fillPlaceholders(args));
      if (data?.status !== 'APPROVED') continue;
      const { proposalId: id, payloadHash } = data;
      if (proposals.length < 100) proposals.push(id);
      await callTool('commit_write', { proposalId: id, payloadHash });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendRemainingCalls));

  expect(failures).toEqual([]);
  const checks = new Map<string, (value: unknown) => boolean>(
    Object.values(FIELDS).map(({ provider, isValid }) => [provider, isValid]),
  );
  const invalidValues = app.zoho.store.records.flatMap(({ values: stored }) =>
    Object.entries(stored).filter(
      ([name, value]) => value !== null && checks.get(name)?.(value) !== true,
    ),
  );
  expect(invalidValues).toEqual([]);
  expect(app.zoho.store.records.length).toBeGreaterThan(CALL_COUNT / 100);
  for (const code of ['BAD_USER_INPUT', 'NOT_FOUND', 'APPROVED', 'PROPOSAL_COMMITTED', '-32602']) {
    expect(codes.get(code) ?? 0, code).toBeGreaterThan(0);
  }
}

test(
  `has no internal error and writes no invalid value in ${CALL_COUNT} calls`,
  { timeout: 600_000 },
  sendCalls,
);
