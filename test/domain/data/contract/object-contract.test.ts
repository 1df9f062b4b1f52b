import { expect, test } from 'vitest';
import type { LearnedType } from '../../../../src/domain/data/contract/learned-fields.ts';
import { createReadConfig, createTestContract, indexFields } from './contracts.ts';

const EMAIL = { fieldName: 'email', mapToName: 'emailAddress' };
const TIER = { mapToName: 'tier', prompt: 'Which field is the tier?' };
const createWriteConfig = (overrides: object = {}) => ({
  objects: [{ objectName: 'contacts', ...overrides }],
});

function createLearnedFields(field: string, ...types: Partial<LearnedType>[]) {
  const rows = types.map((type) => {
    return { valueType: 'STRING', readOnly: false, required: false, ...type } as LearnedType;
  });
  return new Map([['contacts', new Map([[field, rows]])]]);
}

test('uses the names of the manifest, and returns the origin of each field', () => {
  const read = createReadConfig({
    mapToName: 'people',
    requiredFields: [EMAIL, { mapToName: 'owner' }],
    optionalFields: [{ fieldName: 'phone' }, TIER],
  });
  const contract = createTestContract({ content: { read } });
  expect(contract.objects).toMatchObject([
    { name: 'people', sources: [{ integration: 'crm', providerObject: 'contacts' }] },
  ]);
  expect(indexFields(contract)).toMatchObject({
    emailAddress: { providerField: 'email', origin: 'REQUIRED', isAlwaysRead: true },
    owner: { providerField: null, origin: 'MAPPED', isAlwaysRead: true },
    phone: { providerField: 'phone', origin: 'OPTIONAL', isAlwaysRead: false },
    tier: { providerField: null, origin: 'MAPPED', description: TIER.prompt },
  });
});

test('lists the verbs that the manifest allows and the provider supports', () => {
  const listVerbs = (content: object) => createTestContract({ content }).objects[0]?.verbs;
  const read = createReadConfig();
  expect(listVerbs({ read })).toEqual(['LIST', 'SEARCH', 'READ_BY_ID']);
  expect(listVerbs({ write: createWriteConfig() })).toEqual(['CREATE', 'UPDATE', 'DELETE']);
  const subscribe = {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        inheritFieldsAndMapping: true,
        createEvent: { enabled: 'ALWAYS' },
      },
    ],
  };
  expect(listVerbs({ read, subscribe })).toContain('SUBSCRIBE');
  const deals = { objects: [{ objectName: 'deals', destination: 'records' }] };
  expect(listVerbs({ provider: 'pipedrive', read: deals })).toEqual(['LIST', 'READ_BY_ID']);
  const events = { objects: [{ objectName: 'events', destination: 'records' }] };
  expect(listVerbs({ provider: 'stripe', read: events }) ?? []).not.toContain('CREATE');
});

test('omits the verbs that the config of an installation disables', () => {
  const content = { read: createReadConfig(), write: createWriteConfig() };
  const listVerbs = (config: object) => createTestContract({ content, config }).objects[0]?.verbs;
  const read = [{ objectName: 'contacts' }];
  expect(listVerbs({ read })).toEqual(['LIST', 'SEARCH', 'READ_BY_ID']);
  expect(listVerbs({ read: [{ objectName: 'contacts', disabled: true }] })).toBeUndefined();
  expect(listVerbs({ write: [{ objectName: 'contacts' }] })).toEqual(['CREATE', 'UPDATE']);
  const deletingConfig = { write: [{ objectName: 'contacts', deletionEnabled: true }] };
  expect(listVerbs(deletingConfig)).toEqual(['CREATE', 'UPDATE', 'DELETE']);
});

test('allows the conditions of a search that the config does not use', () => {
  const fieldFilters = [{ fieldName: 'phone', value: '1' }];
  const contract = createTestContract({
    content: { read: createReadConfig({ requiredFields: [EMAIL] }) },
    config: { read: [{ objectName: 'contacts', fieldFilters }] },
  });
  expect(contract.objects[0]?.filterable).toEqual({ fields: ['emailAddress'], conditionsMax: 19 });
});

test('takes a type from the manifest, then from the account, then from all accounts', () => {
  const findType = (field: object, overrides: object = {}) => {
    const content = { read: createReadConfig({ requiredFields: [{ ...EMAIL, ...field }] }) };
    const { type, isList, isTypeKnown } = indexFields(createTestContract({ content, ...overrides }))
      .emailAddress!;
    return { type, isList, isTypeKnown };
  };
  const createKnownType = (type: string, isList = false) => ({ type, isList, isTypeKnown: true });
  const unknown = { type: 'JSON', isList: false, isTypeKnown: false };
  expect(findType({})).toEqual(unknown);
  expect(
    findType({}, { learnedFields: createLearnedFields('email', { valueType: 'INT' }) }),
  ).toEqual(createKnownType('INTEGER'));
  const account = { contacts: [{ valueType: 'DATETIME' }] };
  expect(findType({}, { account, learnedFields: createLearnedFields('email', {}) })).toEqual(
    createKnownType('DATE_TIME'),
  );
  expect(findType({ valueType: 'MULTI_SELECT' }, { account })).toEqual(
    createKnownType('ENUM', true),
  );
  expect(findType({ valueType: 'OTHER' }, { account })).toEqual(createKnownType('JSON'));
});

test('takes the widest type of the accounts if it can hold every value, and JSON otherwise', () => {
  const content = { read: createReadConfig({ requiredFields: [EMAIL] }) };
  const findType = (...valueTypes: LearnedType['valueType'][]) => {
    const types = valueTypes.map((valueType) => ({ valueType }));
    return indexFields(
      createTestContract({ content, learnedFields: createLearnedFields('email', ...types) }),
    ).emailAddress;
  };
  expect(findType('INT', 'FLOAT')).toMatchObject({ type: 'NUMBER', isTypeKnown: true });
  expect(findType('SINGLE_SELECT', 'STRING')).toMatchObject({ type: 'STRING', isTypeKnown: true });
  expect(findType('STRING', 'OTHER')).toMatchObject({ type: 'STRING', isTypeKnown: true });
  expect(findType('STRING', 'BOOLEAN')).toMatchObject({ type: 'JSON', isTypeKnown: false });
  expect(findType('SINGLE_SELECT', 'MULTI_SELECT')).toMatchObject({ isTypeKnown: false });
});

test('resolves the mappings, the values and the extra fields of an installation', () => {
  const content = { read: createReadConfig({ requiredFields: [TIER], optionalFieldsAuto: 'ALL' }) };
  const read = {
    objectName: 'contacts',
    selectedFields: ['score'],
    fieldMappings: [{ fieldName: 'lifecycle', mapToName: 'tier' }],
    dynamicMappings: [{ fieldName: 'phone', mapToName: 'telephone' }],
    valueMappings: [
      { fieldName: 'tier', values: [{ deliveredValue: 'gold', providerValue: 'customer' }] },
    ],
  };
  const values = [
    { value: 'customer', displayValue: 'Customer' },
    { value: 'lead', displayValue: 'Lead' },
  ];
  const account = {
    contacts: [
      { fieldName: 'lifecycle', valueType: 'SINGLE_SELECT', values } as const,
      { fieldName: 'score', valueType: 'INT' } as const,
      { fieldName: 'phone' },
    ],
  };
  const contract = createTestContract({ content, config: { read: [read] }, account });
  expect(indexFields(contract)).toMatchObject({
    tier: {
      providerField: 'lifecycle',
      type: 'ENUM',
      origin: 'MAPPED',
      values: [{ value: 'gold', displayValue: 'Customer' }, values[1]],
    },
    telephone: { providerField: 'phone', origin: 'MAPPED' },
    score: { type: 'INTEGER', origin: 'EXTRA', isAlwaysRead: true },
  });
  expect(Object.keys(indexFields(contract))).toEqual(['tier', 'telephone', 'score']);
});

test('returns no provider field for a required name that an installation has not mapped', () => {
  const content = {
    read: createReadConfig({ requiredFields: [TIER], optionalFields: [{ mapToName: 'x' }] }),
  };
  const contract = createTestContract({ content, config: { read: [{ objectName: 'contacts' }] } });
  expect(indexFields(contract)).toMatchObject({
    tier: { providerField: null, isAlwaysRead: true },
  });
  expect(Object.keys(indexFields(contract))).toEqual(['tier']);
});

test('returns no known type for mapped values of another type than string', () => {
  const content = { read: createReadConfig({ requiredFields: [{ fieldName: 'newsletter' }] }) };
  const values = [{ deliveredValue: 'yes', providerValue: 'true' }];
  const read = { objectName: 'contacts', valueMappings: [{ fieldName: 'newsletter', values }] };
  const account = { contacts: [{ fieldName: 'newsletter', valueType: 'BOOLEAN' } as const] };
  const contract = createTestContract({ content, config: { read: [read] }, account });
  expect(indexFields(contract).newsletter).toMatchObject({ type: 'JSON', isTypeKnown: false });
});

test("uses the provider's names in writes that do not inherit the mapping", () => {
  const content = {
    read: createReadConfig({ requiredFields: [EMAIL, { fieldName: 'phone' }] }),
    write: createWriteConfig(),
  };
  const account = {
    contacts: [{ isRequired: true }, { fieldName: 'phone' }, { fieldName: 'made', readOnly: true }],
  };
  const contract = createTestContract({ content, account });
  expect(indexFields(contract)).toMatchObject({
    emailAddress: { isReadOnly: true, isWriteOnly: false, isRequired: false },
    phone: { isReadOnly: false, isWriteOnly: false },
    email: { isReadOnly: false, isWriteOnly: true, isRequired: true, origin: 'EXTRA' },
  });
  expect(indexFields(contract).made).toBeUndefined();
  expect(contract.objects[0]?.acceptsOtherFields).toBe(false);
  expect(createTestContract({ content }).objects[0]?.acceptsOtherFields).toBe(true);
});

test("uses the manifest's names in writes that inherit the mapping", () => {
  const read = createReadConfig({
    requiredFields: [EMAIL],
    optionalFields: [{ fieldName: 'phone' }],
  });
  const createInheritingContent = (overrides: object = {}) => ({
    read,
    write: createWriteConfig({ inheritMapping: true, ...overrides }),
  });
  const account = {
    contacts: [{ isRequired: true }, { fieldName: 'phone' }, { fieldName: 'score' }],
  };
  const contract = createTestContract({ content: createInheritingContent(), account });
  expect(indexFields(contract)).toMatchObject({
    emailAddress: { isReadOnly: false, isRequired: true },
    phone: { isReadOnly: false, isRequired: false },
  });
  expect(Object.keys(indexFields(contract))).toEqual(['emailAddress', 'phone']);
  const anyFields = createInheritingContent({ valueDefaults: { allowAnyFields: true } });
  expect(indexFields(createTestContract({ content: anyFields, account })).score).toMatchObject({
    isWriteOnly: true,
    origin: 'EXTRA',
  });
});

test('makes a field optional or read-only if the config does', () => {
  const content = {
    read: createReadConfig({ requiredFields: [EMAIL, { fieldName: 'phone' }] }),
    write: createWriteConfig({ inheritMapping: true }),
  };
  const neverWritten = { writeOnCreate: 'NEVER', writeOnUpdate: 'NEVER' } as const;
  const fields = [
    { fieldName: 'emailAddress', default: 'a@example.com' },
    { fieldName: 'phone', ...neverWritten },
  ];
  const account = { contacts: [{ isRequired: true }, { fieldName: 'phone', isRequired: true }] };
  const config = {
    read: [{ objectName: 'contacts' }],
    write: [{ objectName: 'contacts', fields }],
  };
  expect(indexFields(createTestContract({ content, config, account }))).toMatchObject({
    emailAddress: { isRequired: false, isReadOnly: false },
    phone: { isRequired: false, isReadOnly: true },
  });
});

test('refers to objects by their names in the contract', () => {
  const objects = [
    ...createReadConfig({ requiredFields: [{ fieldName: 'company_id' }, { fieldName: 'deal' }] })
      .objects,
    { objectName: 'companies', destination: 'records', mapToName: 'accounts' },
  ];
  const reference = { valueType: 'REFERENCE' } as const;
  const account = {
    contacts: [
      { ...reference, fieldName: 'company_id', referenceTo: ['companies'] },
      { ...reference, fieldName: 'deal', referenceTo: ['deals'] },
    ],
  };
  const fields = indexFields(
    createTestContract({ content: { read: { objects } }, account }),
    'contacts',
  );
  expect(fields.company_id?.references).toEqual(['accounts']);
  expect(fields.deal?.references).toEqual(['deals']);
});

test('reports names that would be equal in generated code', () => {
  const fields = [{ fieldName: 'a', mapToName: 'first name' }, { fieldName: 'first_name' }];
  expect(
    createTestContract({ content: { read: createReadConfig({ requiredFields: fields }) } })
      .findings,
  ).toEqual([
    { kind: 'NAME_CLASH', object: 'contacts', field: 'first_name', message: expect.any(String) },
  ]);
});

test('finds the type of a field whose name has another case in the account', () => {
  const content = { read: createReadConfig({ requiredFields: [{ fieldName: 'firstName' }] }) };
  const account = { contacts: [{ fieldName: 'firstname', valueType: 'INT' } as const] };
  expect(indexFields(createTestContract({ content, account })).firstName?.type).toBe('INTEGER');
});

test('includes the fields that every account of a provider has, even if no account is connected', () => {
  const requiredFields = [{ fieldName: 'value' }];
  const opportunity = { objectName: 'opportunity', destination: 'records', requiredFields };
  const content = { provider: 'close', read: { objects: [opportunity] } };
  expect(indexFields(createTestContract({ content })).value).toMatchObject({ type: 'INTEGER' });
});
