/**
 * The subject of the provider contract: a provider with an account, and functions that read it and check the
 * results.
 */
import { inspect } from 'node:util';
import { expect } from 'vitest';
import type {
  Capabilities,
  FieldDescription,
  Provider,
  ProviderSession,
} from '../../src/providers/contract.ts';
import type {
  PageRead,
  ProviderRecord,
  RecordOutcome,
} from '../../src/providers/moving-records.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/providers/provider-error.ts';

/**
 * A failure of requests. A dropped request is executed, and its connection closes before the response.
 */
export type Fault =
  | { status: 401 | 403 | 500 }
  | { status: 429; retryAfterSeconds: number }
  | 'DROPPED_CONNECTION';

/** A provider with an account. Each test creates its own subject. */
export interface ContractSubject extends AsyncDisposable {
  provider: Provider;
  session: ProviderSession;
  /** The credential of the session. No error may contain it. */
  secret: string;
  objectName: string;
  /** A field of `objectName` that accepts any short text, spelled as in describeObject. */
  textField: string;
  /** A record that the provider accepts, with this text in `textField`. */
  createValidRecord(text: string): Record<string, unknown>;
  /** A record that the provider refuses because of its values. */
  invalidRecord: Record<string, unknown>;
  /** A valid id of a record that does not exist. */
  missingId: string;
  /** The smallest `pageSize` that the provider accepts. */
  pageSizeMin: number;
  /** False if records have no change time. A read of changes then returns all records. */
  hasChangeTimes: boolean;
  /** False if the vendor chooses the size of a page, or returns all records in one response. */
  isPaged?: boolean;
  /** False if records can't be created. */
  canCreate?: boolean;
  /** False if the response lacks the id of a created record. */
  returnsCreatedId?: boolean;
  /** False if records can't be updated. */
  canUpdate?: boolean;
  /** True if describing the object needs no request. */
  isDescribedWithoutRequest?: boolean;
  /** False if the server ignores conditions on fields. */
  canSearch?: boolean;
  /** The number of records of a whole batch, if the server accepts any number. Default: the provider's limit. */
  batchSize?: number;
  /** The name of a new field, which contains `obby`, for a provider that creates fields. */
  newFieldName?: string;
  /** The number of records of `objectName` in the account. */
  countRecords(): number | Promise<number>;
  /** Stores records with these change times, and returns their ids. */
  storeRecords(
    records: { record: Record<string, unknown>; changedAt: Date }[],
  ): string[] | Promise<string[]>;
  /** Makes every later request fail. */
  failRequests(fault: Fault): void;
}

export type CreateSubject = () => Promise<ContractSubject>;

/** Ends a check that does not apply to the subject. */
export type Skip = (reason: string) => never;

/** `provider` if the result of a check is the same for each object of a provider. */
export type CheckScope = 'object' | 'provider';

/** Adds a check to the contract. It runs with a subject of its own. Default of the scope: `object`. */
export type AddCheck = (
  title: string,
  run: (subject: ContractSubject, skip: Skip) => Promise<void>,
  scope?: CheckScope,
) => void;

export const UNKNOWN_OBJECT = 'no_such_object';
export const UNKNOWN_OBJECT_KINDS: ProviderErrorKind[] = ['MISSING_OBJECT', 'BAD_REQUEST'];
/** The number of pages after which a read counts as endless. No test needs as many. */
const PAGES_MAX = 50;

export function requireCapability<Key extends keyof Capabilities>(
  { provider }: ContractSubject,
  key: Key,
  skip: Skip,
): NonNullable<Capabilities[Key]> {
  const capability = provider.capabilities[key];
  return capability ?? skip(`${provider.name} has no ${key}`);
}

export function indexByName(fields: FieldDescription[]): Record<string, FieldDescription> {
  return Object.fromEntries(fields.map((field) => [field.fieldName, field]));
}

export function atMinute(n: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 12, n));
}

export function countForPages({ pageSizeMin }: ContractSubject): number {
  return 2 * pageSizeMin + 1;
}

export function storeTexts(
  subject: ContractSubject,
  count: number,
  changedAt = atMinute(0),
): string[] | Promise<string[]> {
  const texts = Array.from({ length: count }, (_, n) => `stored ${n}`);
  return subject.storeRecords(
    texts.map((text) => ({ record: subject.createValidRecord(text), changedAt })),
  );
}

export async function createRecord(subject: ContractSubject, text: string): Promise<string> {
  const { provider, session, objectName } = subject;
  const record = subject.createValidRecord(text);
  const write = { type: 'CREATE', objectName, record } as const;
  const outcome = await provider.capabilities.writeRecord?.(session, write);
  expectSuccess(outcome);
  return outcome.recordId;
}

export function createPageRead({ objectName, textField, pageSizeMin }: ContractSubject): PageRead {
  return { objectName, fields: [textField], pageSize: pageSizeMin };
}

export async function readAll(
  subject: ContractSubject,
  window: Pick<PageRead, 'since' | 'until'> = {},
) {
  const records: ProviderRecord[] = [];
  let cursor: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages++) {
    const read = { ...createPageRead(subject), ...window, cursor };
    const page = await subject.provider.capabilities.readPage?.(subject.session, read);
    const recordsMax = subject.isPaged === false ? Infinity : subject.pageSizeMin;
    expect(page?.records.length).toBeLessThanOrEqual(recordsMax);
    records.push(...(page?.records ?? []));
    if (!page?.nextCursor) return { pages, records };
    cursor = page.nextCursor;
  }
  throw new Error(`no last page within ${PAGES_MAX}`);
}

export async function readTextsById(subject: ContractSubject): Promise<Record<string, unknown>> {
  const { records } = await readAll(subject);
  return Object.fromEntries(records.map(({ id, fields }) => [id, fields[subject.textField]]));
}

export async function readTexts(
  subject: ContractSubject,
  outcomes: RecordOutcome[],
): Promise<unknown[]> {
  const texts = await readTextsById(subject);
  return outcomes.map(({ recordId }) => (recordId === null ? undefined : texts[recordId]));
}

export async function catchFailure(attempt: Promise<unknown>): Promise<ProviderError> {
  const error = await attempt.then(
    (response) => new Error(`no failure, but ${inspect(response)}`),
    (error: unknown) => error,
  );
  if (error instanceof ProviderError) return error;
  throw error;
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
