import { DAY_MS } from '../../work/durations.ts';
import { SandboxRefusal } from '../sandbox-refusal.ts';
import { OBJECTS, type ObjectName, type TableName } from './objects.ts';
import type { RecordTable } from './table.ts';
import { createLimitProblem, RECORDS_PER_OBJECT_MAX } from './workspace.ts';

const FIRST_NAMES = ['Ada', 'Edsger', 'Grace', 'Barbara', 'Alan', 'Frances', 'Donald', 'Radia'];
const LAST_NAMES = ['Lovelace', 'Dijkstra', 'Hopper', 'Liskov', 'Turing', 'Allen', 'Knuth'];
const COUNTRIES = ['NL', 'FR', 'JP', 'BR', 'KE', 'CA'];
/** The close date of the first deal. Later deals count from it. */
const FIRST_CLOSE_MS = Date.UTC(2026, 0, 1);

const RECORD_VALUES: Record<TableName, (index: number) => Record<string, unknown>> = {
  contacts: (index) => ({
    email: `contact-${index}@example.test`,
    firstname: pick(FIRST_NAMES, index),
    lastname: pick(LAST_NAMES, index),
    phone: `+31 20 ${String(index % 10_000_000).padStart(7, '0')}`,
    lifecycle: chooseOption('contacts', 'lifecycle', index),
    interests: [chooseOption('contacts', 'interests', index)],
    birthday: `${1950 + (index % 55)}-${formatTwoDigits(1 + (index % 12))}-${formatTwoDigits(1 + (index % 28))}`,
    score: index % 101,
    annual_spend: (index % 5_000) + 0.5,
    newsletter: index % 3 === 0,
  }),
  companies: (index) => ({
    name: `Company ${index}`,
    domain: `company-${index}.example.test`,
    industry: chooseOption('companies', 'industry', index),
    employees: 1 + (index % 2_000),
    country: pick(COUNTRIES, index),
  }),
  deals: (index) => ({
    name: `Deal ${index}`,
    amount: (index % 900) * 100 + 0.25,
    stage: chooseOption('deals', 'stage', index),
    close_date: new Date(FIRST_CLOSE_MS + (index % 365) * DAY_MS).toISOString(),
  }),
  people: (index) => ({
    given: pick(FIRST_NAMES, index + 3),
    family: pick(LAST_NAMES, index + 3),
    mail: `person-${index}@desk.example.test`,
    mobile: `+33 6 ${String(index % 100_000_000).padStart(8, '0')}`,
    newsletter: index % 2 === 0,
  }),
};

/** Creates many records. Equal indexes have equal values in every run. */
export class Seeder {
  readonly #getTable: (name: TableName) => RecordTable;
  readonly #lastIndexes = new Map<TableName, number>();

  constructor(getTable: (name: TableName) => RecordTable) {
    this.#getTable = getTable;
  }

  /** Creates records after the last one that it created. Throws a SandboxRefusal (409) if the object would be too large. */
  seed(name: TableName, count: number): void {
    const table = this.#getTable(name);
    if (table.size + count > RECORDS_PER_OBJECT_MAX) {
      throw new SandboxRefusal(409, createLimitProblem(name));
    }
    const targetSize = table.size + count;
    while (table.size < targetSize) {
      const index = (this.#lastIndexes.get(name) ?? 0) + 1;
      this.#lastIndexes.set(name, index);
      const values = RECORD_VALUES[name](index);
      if (!hasConflict(table, values)) table.create(values);
    }
  }
}

/** True if a record already has one of the unique values. */
function hasConflict(table: RecordTable, values: Record<string, unknown>): boolean {
  return table.definition.fields.some(
    (field) => field.unique && table.findOwner(field, values[field.name]) !== null,
  );
}

function pick<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length]!;
}

function chooseOption(objectName: ObjectName, fieldName: string, index: number): string {
  const field = OBJECTS[objectName].fields.find(({ name }) => name === fieldName);
  return pick(field!.options!, index).value;
}

function formatTwoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
