/**
 * Puts faults into declarations: a behavior that is too confident, or a wrong location. The reads of the misbehaving vendor
 * find each of them, and find nothing without the fault.
 *
 * @module-tag all/walk
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';
import type { Misbehavior } from '../../support/wire/difficult/misbehaviors.ts';
import { openStage } from '../../support/wire/difficult/open-stage.ts';
import {
  listFaults,
  openTenant,
  readDifficultVendor,
  type Scenario,
  scenario,
} from '../../support/wire/difficult/reads.ts';
import {
  createDeclaredVendor,
  type DifficultVendor,
} from '../../support/wire/difficult/vendors.ts';
import { getWire } from '../../support/wire/vendors/all.ts';
import { isObject, type Values } from '../../support/wire/wire-format.ts';

/** The number of scenarios, one of which must find the fault. */
const SCENARIOS_MAX = 8;

type Fault = [provider: string, misbehavior: Misbehavior, change: Change];
interface Change {
  description: string;
  apply: (declared: DeclaredProvider, objectName: string) => DeclaredProvider;
}

function describeChange(name: string, value: unknown): string {
  return `with ${name} ${JSON.stringify(value)}`;
}

/** Declares a member of `behavior` for the provider and all lists of the object. */
function declareBehavior(name: string, value: unknown): Change {
  const apply: Change['apply'] = (declared, objectName) => {
    const { api } = declared;
    const key = objectName in api.objects ? ['objects', objectName] : ['otherObjects'];
    // A list has no rate limits of its own.
    const names = name === 'rateLimits' ? [] : ['list', 'incrementalList'];
    const lists = names.filter((list) => findMember(api, [...key, list]));
    const changed = lists.reduce<Values>(
      (values, list) => setMember(values, [...key, list, 'behavior', name], value),
      setMember({ ...api }, ['behavior', name], value),
    );
    return { ...declared, api: changed as unknown as DeclaredProvider['api'] };
  };
  return { description: describeChange(name, value), apply };
}

/** Declares a member of the filter by time. */
function declareFilter(name: string, value: unknown): Change {
  const apply: Change['apply'] = (declared, objectName) => {
    const timeFilter = { ...Object(declared.api.behavior?.timeFilter), [name]: value };
    return declareBehavior('timeFilter', timeFilter).apply(declared, objectName);
  };
  return { description: describeChange(`timeFilter.${name}`, value), apply };
}

/** Sets a member of the object's lists, where it is declared. */
function setListMember(path: string[], value: unknown): Change {
  const apply: Change['apply'] = (declared, objectName) => {
    const key = objectName in declared.api.objects ? ['objects', objectName] : ['otherObjects'];
    const paths = ['list', 'incrementalList'].map((list) => [...key, list, ...path]);
    const changed = paths
      .filter((listPath) => findMember(declared.api, listPath) !== undefined)
      .reduce<Values>((api, listPath) => setMember(api, listPath, value), { ...declared.api });
    return { ...declared, api: changed as unknown as DeclaredProvider['api'] };
  };
  return { description: describeChange(path.join('.'), value), apply };
}

function findMember(value: unknown, [name, ...path]: string[]): unknown {
  if (name === undefined) return value;
  return isObject(value) ? findMember(value[name], path) : undefined;
}

function setMember(value: Values, [name = '', ...path]: string[], member: unknown): Values {
  const inner = isObject(value[name]) ? value[name] : {};
  return { ...value, [name]: path.length === 0 ? member : setMember(inner, path, member) };
}

const NEVER_EXPIRES = declareBehavior('expiredCursor', { never: 'It is said to be a number.' });
const ONLY_429 = declareBehavior('rateLimits', 'status429');
const VISIBLE_IN_A_MINUTE = declareBehavior('visibility', { settleMs: 60_000 });
const NOWHERE = '/nowhere';

const FAULTS: Fault[] = [
  ...['airtable', 'asana', 'dynamicsCRM', 'klaviyo', 'monday', 'square', 'zoom'].map(
    (provider): Fault => [provider, 'expiredCursor', NEVER_EXPIRES],
  ),
  ['asana', 'expiredParents', NEVER_EXPIRES],
  ...['github', 'linear', 'monday', 'shopify', 'zoho'].map(
    (provider): Fault => [provider, 'bodyRateLimit', ONLY_429],
  ),
  ...['atlassian', 'freshdesk', 'intercom', 'outreach', 'pipedrive', 'square', 'xero'].map(
    (provider): Fault => [provider, 'lateRecords', VISIBLE_IN_A_MINUTE],
  ),
  ['intercom', 'coarseFilter', declareFilter('precision', 'format')],
  ['serviceNow', 'coarseFilter', declareFilter('zone', 'utc')],
  ['atlassian', 'changesDuringRead', declareFilter('zone', 'utc')],
  ['zendeskSupport', 'otherColumn', declareFilter('column', 'changedAt')],
  ['mailchimp', 'oddRetryAfter', declareFilter('bounds', 'inclusive')],
  ['xero', 'changesDuringRead', setListMember(['isKeysetPaged'], false)],
  ['zoho', 'fieldLimit', declareBehavior('fieldsMax', 'none')],
  ['attio', 'hiddenRecords', declareBehavior('shortPage', 'last')],
  ...['dynamicsCRM', 'front', 'klaviyo', 'outreach', 'pipedrive'].map(
    (provider): Fault => [
      provider,
      'changesDuringRead',
      setListMember(['paging', 'next'], NOWHERE),
    ],
  ),
  ['github', 'changesDuringRead', setListMember(['isKeysetPaged'], false)],
  ['freshdesk', 'changesDuringRead', setListMember(['isKeysetPaged'], false)],
  ...['freshdesk', 'gitlab'].map(
    (provider): Fault => [provider, 'depthLimit', setListMember(['isKeysetPaged'], false)],
  ),
];

const CASES = FAULTS.map(([provider, misbehavior, { description, apply }], n) => {
  const declaration = getDeclaration(provider);
  const wire = getWire(provider);
  const faulty = apply(declaration, wire.objectName);
  return {
    title: `finds that ${provider} ${description} is wrong, by ${misbehavior}`,
    misbehavior,
    control: createDeclaredVendor(declaration, wire, `${provider}Control${n}`),
    vendor: createDeclaredVendor(faulty, wire, `${provider}Fault${n}`),
  };
});
const stage = await openStage(CASES.flatMap(({ control, vendor }) => [control, vendor]));

test('has thirty faults', () => {
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
});

for (const { title, misbehavior, control, vendor } of CASES) {
  test(title, async () => {
    const listControlFaults = await openReads(control, misbehavior);
    const listVendorFaults = await openReads(vendor, misbehavior);
    let faults: string[] = [];
    for (const input of fc.sample(scenario, { seed: 1, numRuns: SCENARIOS_MAX })) {
      expect(await listControlFaults(input)).toEqual([]);
      faults = await listVendorFaults(input);
      if (faults.length > 0) break;
    }
    expect(faults).not.toEqual([]);
  });
}

/** Opens a tenant, and returns a function that reads the vendor in a scenario. */
async function openReads(vendor: DifficultVendor, misbehavior: Misbehavior) {
  const install = await openTenant(stage, vendor);
  const combination = { vendor, misbehavior, detail: vendor.misbehaviors[misbehavior] };
  return async (input: Scenario) =>
    listFaults(await readDifficultVendor(stage, install, combination, input), combination);
}
