/** Inputs of almost as many objects as the lists of an input may have: accepted ones, and refused ones. */
import type { Writer } from '../../support/fixtures/writes.ts';
import { createGraphqlInput, createRestInput, type LargeInput, repeat } from './large-input.ts';

const UPSERT_INTEGRATIONS = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) {
  upsertIntegrations(input: $input) { integrations { id } }
}`;

export const createSchedule = (number: number, index: number) =>
  `0,${10 + (number % 40)} ${index % 23},23 ${1 + (index % 28)} ${1 + (index % 12)} *`;

const INTEGRATION_COUNT = 49;
const OBJECT_COUNT = 198;

/**
 * The names of inputs, and the objects that each of their integrations reads. The schedules differ, because the result of
 * checking one may be kept.
 */
function createLists(): Record<string, object[][]> {
  const createObjects = (createMembers: (number: number, index: number) => object) =>
    repeat(INTEGRATION_COUNT, (number) =>
      repeat(OBJECT_COUNT, (index) => ({
        ...{ objectName: `object${index}`, destination: 'records' },
        ...createMembers(number, index),
      })),
    );
  const schedules = createObjects((number, index) => ({ schedule: createSchedule(number, index) }));
  const endWith = (members: object): object[][] => {
    const last = (schedules.at(-1) ?? []).map((object, index) =>
      index === OBJECT_COUNT - 1 ? { ...object, ...members } : object,
    );
    return [...schedules.slice(0, -1), last];
  };
  const nested = createObjects((_, index) => ({
    delivery: { pageSize: 50 },
    // More would exceed the limit of a body.
    ...(index < 100 && { backfill: { defaultPeriod: { fullHistory: true } } }),
  }));
  const requiredFields = repeat(48, (index) => ({ fieldName: `field${index}` }));
  const [fields = []] = createObjects(() => ({ requiredFields }));
  return {
    '9,702 schedules': schedules,
    '9,702 objects with others inside': nested,
    '9,504 fields of one integration': [fields],
    '9,702 schedules, of which the last is not valid': endWith({ schedule: 'never' }),
    '9,702 schedules, and a number in place of the last name': endWith({ objectName: 1 }),
    '9,702 schedules, and an unknown member at the end': endWith({ unknown: 1 }),
  };
}

/**
 * Salesforce has objects of any name, and so the inputs without an error are accepted. The sandbox has few objects, and so
 * every input is refused after it was parsed.
 */
export function createManyObjects(
  { projectId }: Pick<Writer, 'projectId'>,
  provider: 'sandbox' | 'salesforce',
): LargeInput[] {
  const path = `/v1/projects/${projectId}/integrations:batch`;
  return Object.entries(createLists()).flatMap(([name, lists]) => {
    const integrations = lists.map((objects, number) => ({
      name: `crm${number}`,
      provider,
      read: { objects },
    }));
    const content = { specVersion: '1.0.0', integrations };
    const input = { projectIdOrName: projectId, ...content };
    return [
      createGraphqlInput(name, UPSERT_INTEGRATIONS, { input }),
      { ...createRestInput(name, path, content), method: 'PUT' },
    ];
  });
}
