/** Requests to read and write records of a provider, and their results. */

export interface PageRead {
  objectName: string;
  /** The provider's names of the fields to fetch. */
  fields: string[];
  /** Only records that changed at this time or later. */
  since?: Date;
  /** Only records that changed at this time or earlier. */
  until?: Date;
  /** Only records with these values. There are at most as many as the provider permits. */
  filters?: readonly FieldValue[];
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  /** True if no request was sent between the response of the previous page and this one. */
  followsPage?: boolean;
  pageSize: number;
}

export interface FieldValue {
  /** The provider's name of the field. */
  fieldName: string;
  value: string | number | boolean;
}

export interface RecordsRead {
  objectName: string;
  /** The provider's names of the fields to fetch. */
  fields: string[];
  ids: string[];
  /**
   * True to omit a record for whose id the provider returns another record, such as the one that it was merged into.
   * Default: such a read throws BAD_REQUEST.
   */
  omitsReplaced?: boolean | undefined;
}

/** A list that a client of the provider's own API requests through the proxy. */
export interface ListRequest {
  path: string;
  query: Record<string, string>;
  /** The body of a list that is requested by POST. */
  body?: Record<string, unknown> | undefined;
}

export interface ProviderRecord {
  id: string;
  /** Values by the provider's field names. */
  fields: Record<string, unknown>;
  /** The complete record as the provider sent it. */
  raw: Record<string, unknown>;
}

export interface RecordPage {
  records: ProviderRecord[];
  /** Null on the last page. It is stored between pages and contains everything that the next page needs. */
  nextCursor: string | null;
  /**
   * True if the vendor keeps the position of the read. The next page must then be requested directly after this one is
   * stored. Otherwise the read restarts.
   */
  isScroll?: boolean;
  /** The number of records of the whole read. Null if the provider does not return it. */
  estimatedTotal: number | null;
}

export interface Association {
  to: { id: string };
  types: { associationCategory: string; associationTypeId: number }[];
}

export interface RecordWrite {
  type: 'CREATE' | 'UPDATE';
  objectName: string;
  /** Values by the provider's field names. An update also has the record's `id` here. */
  record: Record<string, unknown>;
  associations?: Association[];
  headers?: { key: string; value: string }[];
  /** Sent to providers that honor idempotency keys: a repeated key creates no second record. */
  idempotencyKey?: string;
}

export interface BatchWrite {
  type: 'CREATE' | 'UPDATE';
  objectName: string;
  records: { record: Record<string, unknown>; associations?: Association[] }[];
  /** If true, one refused record refuses the batch. Only for providers that support it. */
  allOrNone: boolean;
  headers?: { key: string; value: string }[];
  idempotencyKey?: string;
}

export interface RecordRemoval {
  objectName: string;
  id: string;
  headers?: { key: string; value: string }[];
}

/** The outcome of one record. Refusals are returned, not thrown. */
export interface RecordOutcome {
  success: boolean;
  /** Null if a creation was refused, or if the provider does not return the id. */
  recordId: string | null;
  /** The record after the write, if the response has it. */
  data: Record<string, unknown> | null;
  /** Human-readable reasons of a refusal. */
  errors: string[];
  /**
   * Absent if the provider wrote or refused the record. `UNKNOWN`: the provider may have written it. `NOT_EXECUTED`:
   * this call did not write it, and a repetition may succeed.
   */
  failure?: 'UNKNOWN' | 'NOT_EXECUTED';
}

/** Creates the outcome of a written record. `recordId` is null if the vendor does not return the id of a created record. */
export function createWrittenOutcome(
  recordId: string | null,
  data: Record<string, unknown> | null = null,
): RecordOutcome {
  return { success: true, recordId, data, errors: [] };
}

export function createRefusedOutcome(recordId: string | null, errors: string[]): RecordOutcome {
  return { success: false, recordId, data: null, errors };
}
