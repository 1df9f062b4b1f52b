import type { Values } from '../wire-format.ts';
import type { DifficultAccount } from './vendors.ts';

/** Records of the account in the test's own memory. */
export class Ledger {
  readonly #account: DifficultAccount;
  readonly #textField: string;
  readonly #extraValues: Values;
  readonly #texts = new Map<string, string>();
  readonly #changeTimes = new Map<string, Date>();
  #lastVersion = 0;

  constructor(account: DifficultAccount, textField: string, extraValues: Values) {
    this.#account = account;
    this.#textField = textField;
    this.#extraValues = extraValues;
  }

  get ids(): string[] {
    return [...this.#texts.keys()];
  }

  /** The text of each record's last version, by ID. */
  get versions(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  create(changedAt: Date): void {
    const text = this.#createText();
    const id = this.#account.create({ ...this.#extraValues, [this.#textField]: text }, changedAt);
    this.#texts.set(id, text);
    this.#changeTimes.set(id, changedAt);
  }

  /** With a `listTime`, the list is ordered by it, and the record's own time of change stays. */
  change(id: string, changedAt: Date, listTime?: Date): void {
    const previousTime = this.#changeTimes.get(id) ?? changedAt;
    // A version that becomes visible after a newer one is never seen.
    if (previousTime > changedAt) return;
    const text = this.#createText();
    const time = listTime ? previousTime : changedAt;
    this.#account.change(id, { [this.#textField]: text }, time, listTime);
    this.#texts.set(id, text);
    this.#changeTimes.set(id, time);
  }

  #createText(): string {
    this.#lastVersion += 1;
    return `version ${this.#lastVersion}`;
  }
}
