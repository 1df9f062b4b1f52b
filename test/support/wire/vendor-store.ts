/** The records of a vendor's account in a test. */

/** A record of the vendor's account. */
export interface StoredRecord {
  id: string | number;
  changedAt: Date;
  values: Record<string, unknown>;
}

export class VendorStore {
  readonly records: StoredRecord[] = [];
  readonly #createId: (n: number) => string | number;
  #lastNumber = 0;

  constructor(createId: (n: number) => string | number) {
    this.#createId = createId;
  }

  create(values: Record<string, unknown>, changedAt: Date): StoredRecord {
    this.#lastNumber += 1;
    const record = { id: this.#createId(this.#lastNumber), changedAt, values };
    this.records.push(record);
    return record;
  }

  find(id: string): StoredRecord | undefined {
    return this.records.find((record) => String(record.id) === id);
  }

  clear(): void {
    this.records.length = 0;
    this.#lastNumber = 0;
  }

  remove(record: StoredRecord): void {
    this.records.splice(this.records.indexOf(record), 1);
  }
}
