/** A queue in which names take turns, so that a name with many entries does not delay other names. */

interface QueueOptions {
  /** The time between two turns. */
  turnMs: number;
  /** The number of entries that one turn admits. */
  turnSize: number;
  /** The maximum number of waiting entries of all names. */
  waitingMax: number;
}

type Decide = (isAdmitted: boolean) => void;

export class WaitingQueue {
  readonly #options: QueueOptions;
  /** The waiting entries by name, in the order in which the names have their turn. */
  readonly #entriesByName = new Map<string, Decide[]>();
  #waitingCount = 0;
  #isTurnScheduled = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /**
   * Resolves to true when the entry is admitted, and to false if the queue overflows and the entry is removed. An overflow
   * removes the oldest entry of the name with the most entries: in a flood, the newest entries have the best chance of a
   * turn.
   */
  waitForTurn(name: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const entries = this.#entriesByName.get(name);
    if (entries) entries.push(resolve);
    else this.#entriesByName.set(name, [resolve]);
    this.#waitingCount += 1;
    if (this.#waitingCount > this.#options.waitingMax) {
      const decide = this.#takeOldest(this.#findLongestName());
      decide(false);
    }
    this.#scheduleTurn();
    return promise;
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled || this.#waitingCount === 0) return;
    this.#isTurnScheduled = true;
    setTimeout(() => this.#runTurn(), this.#options.turnMs);
  }

  #runTurn(): void {
    for (let count = 0; count < this.#options.turnSize && this.#waitingCount > 0; count += 1) {
      const [name] = this.#entriesByName.keys();
      const decide = this.#takeOldest(name as string);
      decide(true);
    }
    this.#isTurnScheduled = false;
    this.#scheduleTurn();
  }

  /** Takes the oldest entry of the name, and moves the name behind all other names. */
  #takeOldest(name: string): Decide {
    const [oldestEntry, ...laterEntries] = this.#entriesByName.get(name) as [Decide, ...Decide[]];
    this.#entriesByName.delete(name);
    if (laterEntries.length > 0) this.#entriesByName.set(name, laterEntries);
    this.#waitingCount -= 1;
    return oldestEntry;
  }

  /** Returns the name with the most entries. */
  #findLongestName(): string {
    let longestName = '';
    let lengthMax = 0;
    for (const [name, { length }] of this.#entriesByName) {
      if (length <= lengthMax) continue;
      longestName = name;
      lengthMax = length;
    }
    return longestName;
  }
}
