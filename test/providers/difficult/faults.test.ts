/**
 * Puts faults into declarations: an answer that is too confident, or a wrong location. The reads of the misbehaving vendor
 * find each of them.
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
  scenario,
} from '../../support/wire/difficult/reads.ts';
import { createDeclaredVendor } from '../../support/wire/difficult/vendors.ts';
import { getWire } from '../../support/wire/vendors/all.ts';
import { isObject, type Values } from '../../support/wire/wire-format.ts';

/** The number of scenarios, one of which must find the fault. */
const SCENARIOS_MAX = 8;

type Fault = [provider: string, misbehavior: Misbehavior, change: Change];
type Change = (declared: DeclaredProvider, objectName: string) => DeclaredProvider;

/** Answers a question of `behavior` for the provider and all lists of the object. */
function answer(name: string, value: unknown): Change {
  return (declared, objectName) => {
    const { api } = declared;
    const key = objectName in api.objects ? ['objects', objectName] : ['otherObjects'];
    const lists = ['list', 'incrementalList'].filter((list) => findMember(api, [...key, list]));
    const answered = lists.reduce<Values>(
      (changed, list) => setMember(changed, [...key, list, 'behavior', name], value),
      setMember({ ...api }, ['behavior', name], value),
    );
    return { ...declared, api: answered as unknown as DeclaredProvider['api'] };
  };
}

/** Answers a part of the question about the filter by time. */
function filterAnswer(name: string, value: unknown): Change {
  return (declared, objectName) => {
    const { timeFilter } = declared.api.behavior;
    return answer('timeFilter', { ...Object(timeFilter), [name]: value })(declared, objectName);
  };
}

/** Sets a member of the object's lists, where it is declared. */
function listMember(path: string[], value: unknown): Change {
  return (declared, objectName) => {
    const key = objectName in declared.api.objects ? ['objects', objectName] : ['otherObjects'];
    const paths = ['list', 'incrementalList'].map((list) => [...key, list, ...path]);
    const changed = paths
      .filter((listPath) => findMember(declared.api, listPath) !== undefined)
      .reduce<Values>((api, listPath) => setMember(api, listPath, value), { ...declared.api });
    return { ...declared, api: changed as unknown as DeclaredProvider['api'] };
  };
}

function findMember(value: unknown, [name, ...path]: string[]): unknown {
  if (name === undefined) return value;
  return isObject(value) ? findMember(value[name], path) : undefined;
}

function setMember(value: Values, [name = '', ...path]: string[], member: unknown): Values {
  const inner = isObject(value[name]) ? value[name] : {};
  return { ...value, [name]: path.length === 0 ? member : setMember(inner, path, member) };
}

const NEVER_EXPIRES = answer('expiredCursor', { never: 'It is said to be a number.' });
const ONLY_429 = answer('rateLimits', 'status429');
const VISIBLE_IN_A_MINUTE = answer('visibility', { settleMs: 60_000 });
const NOWHERE = '/nowhere';

const FAULTS: Fault[] = [
  ...['airtable', 'asana', 'dynamicsCRM', 'klaviyo', 'monday', 'notion', 'square', 'zoom'].map(
    (provider): Fault => [provider, 'expiredCursor', NEVER_EXPIRES],
  ),
  ['asana', 'expiredParents', NEVER_EXPIRES],
  ...['github', 'linear', 'monday', 'shopify', 'zoho'].map(
    (provider): Fault => [provider, 'bodyRateLimit', ONLY_429],
  ),
  ...['atlassian', 'freshdesk', 'intercom', 'outreach', 'pipedrive', 'square', 'xero'].map(
    (provider): Fault => [provider, 'lateRecords', VISIBLE_IN_A_MINUTE],
  ),
  ['intercom', 'coarseFilter', filterAnswer('precision', 'format')],
  ['serviceNow', 'coarseFilter', filterAnswer('zone', 'utc')],
  ['atlassian', 'changesDuringRead', filterAnswer('zone', 'utc')],
  ['zendeskSupport', 'otherColumn', filterAnswer('column', 'changedAt')],
  ['mailchimp', 'oddRetryAfter', filterAnswer('bounds', 'inclusive')],
  ['xero', 'changesDuringRead', listMember(['isKeysetPaged'], false)],
  ['zoho', 'fieldLimit', answer('fieldsMax', 'none')],
  ['attio', 'hiddenRecords', answer('shortPage', 'last')],
  ...['dynamicsCRM', 'front', 'klaviyo', 'outreach', 'pipedrive'].map(
    (provider): Fault => [provider, 'changesDuringRead', listMember(['paging', 'next'], NOWHERE)],
  ),
  ['github', 'changesDuringRead', listMember(['isKeysetPaged'], false)],
  ['freshdesk', 'changesDuringRead', listMember(['isKeysetPaged'], false)],
];

const VENDORS = FAULTS.map(([provider, , change], n) => {
  const wire = getWire(provider);
  const faulty = change(getDeclaration(provider), wire.objectName);
  return createDeclaredVendor(faulty, wire, `${provider}Fault${n}`);
});
const stage = await openStage(VENDORS);

test('has thirty faults', () => {
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
});

for (const [n, vendor] of VENDORS.entries()) {
  const misbehavior = (FAULTS[n] as Fault)[1];
  test(`finds the fault ${n + 1} of ${vendor.vendorName} by ${misbehavior}`, async () => {
    const install = await openTenant(stage, vendor);
    const combination = { vendor, misbehavior, detail: vendor.misbehaviors[misbehavior] };
    const found: string[] = [];
    for (const input of fc.sample(scenario, { seed: 1, numRuns: SCENARIOS_MAX })) {
      const result = await readDifficultVendor(stage, install, combination, input);
      found.push(...listFaults(result, combination));
      if (found.length > 0) break;
    }
    expect(found).not.toEqual([]);
  });
}
