/**
 * Agents propose random writes to an object of each provider that has a test server. Many contain an unknown,
 * read-only or ill-typed field. No such field reaches a provider.
 *
 * @module-tag all/walk
 */
import { afterAll, expect, test } from 'vitest';
import type { ObjectContract } from '../../../src/domain/data/contract/contract-resource.ts';
import type { FieldContract } from '../../../src/domain/data/contract/field-contract.ts';
import { listObjectCapabilities, type Provider } from '../../../src/providers/contract.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { RecordWrite } from '../../../src/providers/moving-records.ts';
import { startStandIns } from '../../clients/manifest-stand-ins.ts';
import { createRandom } from '../../faults/fixtures/random.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../../support/app.ts';
import { createAgent, createProposalClient } from '../../support/fixtures/agents.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, createIntegration } from '../../support/fixtures/integrations.ts';

const WRITES_PER_PROVIDER = 8;
const random = createRandom(Number(process.env.FUZZ_SEED ?? 1));
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** The writes that reached a provider since the last check. */
const sentWrites: RecordWrite[] = [];

function recordWrites(provider: Provider): Provider {
  const { writeRecord } = provider.capabilities;
  if (!writeRecord) return provider;
  const capabilities: Provider['capabilities'] = {
    ...provider.capabilities,
    writeRecord: (session, write) => {
      sentWrites.push(write);
      return writeRecord(session, write);
    },
  };
  // The URL of a stand-in is a getter.
  return Object.defineProperty(provider, 'capabilities', { value: capabilities });
}

const standIns = await startStandIns();
const app = await getSharedApp({
  env: {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    ...HIGH_RATE_LIMITS,
  },
  providers: standIns.providers.map(recordWrites),
});
afterAll(() => standIns[Symbol.asyncDispose]());

interface WriteTarget {
  provider: string;
  objectName: string;
}

function findTarget(name: string): WriteTarget[] {
  const provider = standIns.providers.find((candidate) => candidate.name === name);
  const object = provider?.commonObjects?.find(({ writes }) => writes?.includes('CREATE'));
  return object ? [{ provider: name, objectName: object.name }] : [];
}

const TARGETS: WriteTarget[] = [
  ...DECLARATIONS.flatMap(({ name }) => findTarget(name)),
  { provider: 'hubspot', objectName: 'contacts' },
  { provider: 'salesforce', objectName: 'Contact' },
];

const GET_CONTRACT = `query Contract($id: ID!) { node(id: $id) { ... on Installation { contract { objects {
  name verbs fields { name providerField type isList isRequired isReadOnly isWriteOnly values { value } }
} } } } }`;

type Values = Record<string, unknown>;

/** Returns the names of the object's fields, and whether the account can describe them. */
function findFields({ provider: name, objectName }: WriteTarget, record: object) {
  const provider = standIns.providers.find((candidate) => candidate.name === name);
  const object = provider?.commonObjects?.find((common) => common.name === objectName);
  const declaredFields = object?.fields?.map(({ fieldName }) => fieldName) ?? [];
  return {
    isDescribed:
      provider !== undefined && listObjectCapabilities(provider, objectName).includes('METADATA'),
    names: [...new Set([...declaredFields, ...Object.keys(record)])].filter(
      (field) => field !== 'id',
    ),
  };
}

async function install({ provider, objectName }: WriteTarget) {
  const tenant = await app.createTenant();
  const account = await standIns.open({ provider, module: null, objectName, fields: [] });
  const { isDescribed, names } = findFields({ provider, objectName }, account.record);
  await createIntegration(app, tenant, {
    name: 'crm',
    provider,
    read: {
      objects: [
        {
          ...{ objectName, mapToName: 'things', destination: 'records' },
          ...(isDescribed
            ? { optionalFieldsAuto: 'ALL' }
            : { optionalFields: names.map((fieldName) => ({ fieldName })) }),
        },
      ],
    },
    write: { objects: [{ objectName, inheritMapping: true }] },
  });
  await generateConnection(tenant, { provider, ...account.connection });
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, {
    input: {
      ...{ projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', groupRef: 'acme' },
      config: {
        read: [
          {
            objectName,
            ...(isDescribed ? { selectedFieldsAuto: 'ALL' } : { selectedFields: names }),
          },
        ],
        write: [{ objectName }],
      },
    },
  });
  const { id } = createInstallation.installation;
  const { contract } = (await tenant.query(GET_CONTRACT, { id })).node;
  return { tenant, account, object: contract.objects[0] as ObjectContract };
}

const ILL_TYPED_VALUES: Record<string, unknown> = {
  STRING: { nested: 1 },
  ENUM: 'not-a-value-of-the-enum',
  INTEGER: 'seven',
  NUMBER: 'seven',
  BOOLEAN: 'perhaps',
  DATE: 'yesterday',
  DATE_TIME: 'now',
  REFERENCE: { id: 1 },
};
const VALID_VALUES: Record<string, unknown> = {
  STRING: 'text',
  INTEGER: 7,
  NUMBER: 7.5,
  BOOLEAN: true,
  DATE: '2026-01-31',
  DATE_TIME: '2026-01-31T12:00:00Z',
  REFERENCE: '1',
  JSON: 'text',
};

const createValue = ({ type, isList, values }: FieldContract): unknown => {
  const item = values ? pick(values).value : (VALID_VALUES[type] ?? 'text');
  return isList ? [item] : item;
};

/** Returns values for a write, and whether the contract refuses one of them. */
function createValues(
  { fields }: ObjectContract,
  record: Values,
): { values: Values; isWrong: boolean } {
  const writable = fields.filter(({ isReadOnly, name }) => !isReadOnly && name !== 'id');
  const required = writable.filter(({ isRequired }) => isRequired);
  const chosenFields = [...required, ...Array.from({ length: 3 }, () => pick(writable))];
  const values: Values = Object.fromEntries(
    chosenFields.map((field) => [field.name, createValue(field)]),
  );
  for (const [name, value] of Object.entries(record)) {
    if (writable.some((field) => field.name === name)) values[name] = value;
  }
  const readOnly = fields.filter(({ isReadOnly, name }) => isReadOnly && name !== 'id');
  const typed = writable.filter(({ type }) => type !== 'JSON' && type in ILL_TYPED_VALUES);
  const faults: (() => void)[] = [
    () => {
      values.made_up_field = 'x';
    },
  ];
  if (readOnly.length > 0) {
    faults.push(() => {
      values[pick(readOnly).name] = 'x';
    });
  }
  if (typed.length > 0) {
    faults.push(() => {
      const field = pick(typed);
      const isOpenEnum = field.type === 'ENUM' && !field.values;
      values[field.name] = isOpenEnum ? { nested: 1 } : ILL_TYPED_VALUES[field.type];
    });
  }
  const isWrong = random() < 0.6;
  if (isWrong) pick(faults)();
  return { values, isWrong };
}

function isOfType({ type, isList, values }: FieldContract, value: unknown): boolean {
  if (isList) {
    return (
      Array.isArray(value) &&
      value.every((item) => isOfType({ type, isList: false, values } as FieldContract, item))
    );
  }
  if (values) return values.some((candidate) => candidate.value === value);
  const checkByType: Record<string, () => boolean> = {
    INTEGER: () => Number.isInteger(value),
    NUMBER: () => typeof value === 'number',
    BOOLEAN: () => typeof value === 'boolean',
    JSON: () => true,
  };
  return (checkByType[type] ?? (() => typeof value === 'string'))();
}

test.each(TARGETS)('$provider gets only known, writable and well-typed fields', async (target) => {
  const { tenant, account, object } = await install(target);
  await using _account = account;
  const agent = await createAgent(app, tenant, { verbs: ['READ', 'CREATE'] });
  const proposals = createProposalClient(tenant);
  const fieldByProviderName = new Map(object.fields.map((field) => [field.providerField, field]));
  let refusalCount = 0;
  for (let index = 0; index < WRITES_PER_PROVIDER; index += 1) {
    const { values, isWrong } = createValues(object, account.record as Values);
    const input = { objectName: 'things', type: 'CREATE', values };
    sentWrites.length = 0;
    if (isWrong) {
      const { code, problem } = await proposals.getCreateRefusal(agent, input);
      expect(code, JSON.stringify({ values, problem })).toBe('BAD_USER_INPUT');
      expect(sentWrites).toEqual([]);
      refusalCount += 1;
      continue;
    }
    const proposal = await proposals.create(agent, input);
    await proposals.approve(tenant, proposal.id);
    await proposals.commit(agent, proposal);
    expect(sentWrites).toHaveLength(1);
    for (const [name, value] of Object.entries(sentWrites[0]?.record ?? {})) {
      const field = fieldByProviderName.get(name);
      expect([name, field?.isReadOnly], target.provider).toEqual([name, false]);
      expect([name, value, field && isOfType(field, value)]).toEqual([name, value, true]);
    }
  }
  expect(refusalCount).toBeGreaterThan(0);
});

test('proposes at least 200 writes', () => {
  expect(TARGETS.length * WRITES_PER_PROVIDER).toBeGreaterThanOrEqual(200);
});
