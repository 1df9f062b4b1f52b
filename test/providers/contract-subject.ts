/** What the provider contract tries its tests on, and how they read and judge it. */
import { inspect } from 'node:util';
import { expect, type TestContext } from 'vitest';
import type { Capabilities, Provider, ProviderSession } from '../../src/providers/contract.ts';
import type {
  PageRead,
  ProviderRecord,
  RecordOutcome,
} from '../../src/providers/moving-records.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/providers/provider-error.ts';

/** How requests fail. A dropped request is carried out, and the line drops before its answer. */
export type Fault =
  | { status: 401 | 403 | 500 }
  | { status: 429; retryAfterSeconds: number }
  | 'DROPPED_CONNECTION';

/** A provider with an account to try it on. Each test makes one of its own. */
export interface ContractSubject extends AsyncDisposable {
  provider: Provider;
  session: ProviderSession;
  /** What the session authenticates with: no error may show it. */
  secret: string;
  objectName: string;
  /** A field of that object which holds any short text, spelt as describeObject spells it. */
  textField: string;
  /** A record that the provider takes, with this text in `textField`. */
  validRecord(text: string): Record<string, unknown>;
  /** A record that the provider refuses for what is in it. */
  invalidRecord: Record<string, unknown>;
  /** The id of a record that could exist, but does not. */
  missingId: string;
  /** The smallest `pageSize` that the provider keeps to. */
  smallestPage: number;
  /** False if records have no time of change: a read of changes then returns all records. */
  tellsChanges: boolean;
  /** False if the vendor chooses how many records a page has, or lists all of them in one answer. */
  isPaged?: boolean;
  /** False if its records are updated and not created. */
  creates?: boolean;
  /** False if the vendor does not answer which record it created. */
  namesCreated?: boolean;
  /** False if its records are created and not updated. */
  updates?: boolean;
  /** Its description is known without a request. */
  isDescribedBeforehand?: boolean;
  /** False if its server takes no conditions on fields. */
  isSearched?: boolean;
  /** Of a provider that makes fields: the name of a new one, with `obby` in it. */
  newField?: string;
  /** Records of `objectName` in the account. */
  countRecords(): number | Promise<number>;
  /** Puts records into the account as though they had last changed then; gives their ids. */
  storeRecords(
    records: { record: Record<string, unknown>; changedAt: Date }[],
  ): string[] | Promise<string[]>;
  /** From now on every request fails so. */
  failRequests(fault: Fault): void;
}

export type MakeSubject = () => Promise<ContractSubject>;

export const UNKNOWN_OBJECT = 'no_such_object';
export const UNKNOWN_OBJECT_KINDS: ProviderErrorKind[] = ['MISSING_OBJECT', 'BAD_REQUEST'];
/** Far more pages than any test here fills: a read that goes on is a read without an end. */
export const PAGES_MAX = 50;

export function declared<Key extends keyof Capabilities>(
  { provider }: ContractSubject,
  key: Key,
  { skip }: TestContext,
): NonNullable<Capabilities[Key]> {
  const capability = provider.capabilities[key];
  return capability ?? skip(`${provider.name} has no ${key}`);
}

export function minute(n: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 12, n));
}

export function severalPages({ smallestPage }: ContractSubject): number {
  return 2 * smallestPage + 1;
}

export function storeTexts(
  subject: ContractSubject,
  count: number,
  changedAt = minute(0),
): string[] | Promise<string[]> {
  const texts = Array.from({ length: count }, (_, n) => `stored ${n}`);
  return subject.storeRecords(texts.map((t) => ({ record: subject.validRecord(t), changedAt })));
}

export async function createRecord(subject: ContractSubject, text: string): Promise<string> {
  const { provider, session, objectName } = subject;
  const record = subject.validRecord(text);
  const write = { type: 'CREATE', objectName, record } as const;
  const outcome = await provider.capabilities.writeRecord?.(session, write);
  expectSuccess(outcome);
  return outcome.recordId;
}

export function pageOf({ objectName, textField, smallestPage }: ContractSubject): PageRead {
  return { objectName, fields: [textField], pageSize: smallestPage };
}

export async function readAll(
  subject: ContractSubject,
  window: Pick<PageRead, 'since' | 'until'> = {},
) {
  const records: ProviderRecord[] = [];
  let cursor: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages++) {
    const read = { ...pageOf(subject), ...window, cursor };
    const page = await subject.provider.capabilities.readPage?.(subject.session, read);
    const most = subject.isPaged === false ? Infinity : subject.smallestPage;
    expect(page?.records.length).toBeLessThanOrEqual(most);
    records.push(...(page?.records ?? []));
    if (!page?.nextCursor) return { pages, records };
    cursor = page.nextCursor;
  }
  throw new Error(`no last page within ${PAGES_MAX}`);
}

export async function textsById(subject: ContractSubject): Promise<Record<string, unknown>> {
  const { records } = await readAll(subject);
  return Object.fromEntries(records.map(({ id, fields }) => [id, fields[subject.textField]]));
}

export async function textsOf(
  subject: ContractSubject,
  outcomes: RecordOutcome[],
): Promise<unknown[]> {
  const texts = await textsById(subject);
  return outcomes.map(({ recordId }) => (recordId === null ? undefined : texts[recordId]));
}

export async function failureOf(attempt: Promise<unknown>): Promise<ProviderError> {
  const thrown = await attempt.then(
    (answer) => new Error(`no failure, but ${inspect(answer)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof ProviderError) return thrown;
  throw thrown;
}

export function expectSuccess(
  outcome: RecordOutcome | undefined,
): asserts outcome is RecordOutcome & { recordId: string } {
  expect(outcome).toMatchObject({ success: true, recordId: expect.any(String), errors: [] });
}

export function expectRefusal(outcome: RecordOutcome | undefined): void {
  expect(outcome).toMatchObject({ success: false, data: null });
  expect(outcome?.errors.length).toBeGreaterThan(0);
  for (const error of outcome?.errors ?? []) expect(error).toMatch(/\S/);
}
