/** The share of a resource that is reserved for small holders, and the largest share of a small holder. */
const RESERVED_SHARE = 1 / 5;
const SMALL_USE_SHARE = 1 / 100;

export type ShareLevel = 'caller' | 'project' | 'connection';
/** The name of a holder on each level. A holder has no bound on a level without a name. */
export type Holder = { readonly [L in ShareLevel]?: string };

interface ShareLimits {
  /** The maximum of all holders together. */
  process: number;
  levels: readonly { level: ShareLevel; max: number }[];
}

/** The exhausted limit: the whole resource, or the share of one level. */
export type ExhaustedLimit = 'process' | ShareLevel;

/**
 * A bounded resource that many holders share, such as the requests or sockets of a process. Each level (caller, project,
 * connection) has a maximum. A holder is refused when it holds as much as is free, so that it never has more than is
 * left for others. A share of the resource is reserved for small holders, so that several large holders can't use all
 * of it.
 */
export class BoundedShares {
  readonly max: number;
  readonly #reserved: number;
  readonly #smallUse: number;
  readonly #levels: { level: ShareLevel; max: number; held: Map<string, number> }[];
  #held = 0;

  constructor({ process, levels }: ShareLimits) {
    this.max = process;
    this.#reserved = Math.floor(process * RESERVED_SHARE);
    this.#smallUse = Math.max(1, Math.floor(process * SMALL_USE_SHARE));
    this.#levels = levels.map((level) => ({ ...level, held: new Map() }));
  }

  get held(): number {
    return this.#held;
  }

  /** Returns the number of holders of a level that hold at least one unit. */
  countHolders(level: ShareLevel): number {
    return this.#findHeld(level)?.size ?? 0;
  }

  countHeldBy(level: ShareLevel, name: string): number {
    return this.#findHeld(level)?.get(name) ?? 0;
  }

  /** Returns the units that the largest holder of each bounded level holds. */
  listLargest(): { level: ShareLevel; held: number }[] {
    return this.#levels.map(({ level, held }) => ({
      level,
      held: held.values().reduce((shareMax, units) => Math.max(shareMax, units), 0),
    }));
  }

  /** Takes one unit. If that is not possible, takes nothing and returns the exhausted limit. */
  take(holder: Holder): ExhaustedLimit | null {
    const exhausted = this.findExhausted(holder);
    if (!exhausted) this.add(holder);
    return exhausted;
  }

  /** Returns the limit that prevents the holder from taking a unit now. */
  findExhausted(holder: Holder): ExhaustedLimit | null {
    const free = this.max - this.#held;
    if (free <= 0) return 'process';
    for (const { level, max, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const shareMax = Math.min(max, Math.max(this.#smallUse, free - this.#reserved));
      if ((held.get(name) ?? 0) >= shareMax) return level;
    }
    return null;
  }

  /** Takes one unit beyond every maximum, for work that has begun and must not be refused. */
  add(holder: Holder): void {
    this.#held += 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name !== undefined) held.set(name, (held.get(name) ?? 0) + 1);
    }
  }

  /** Releases one unit. Call it once for each successful `take` and each `add`, with the same names. */
  release(holder: Holder): void {
    this.#held -= 1;
    for (const { level, held } of this.#levels) {
      const name = holder[level];
      if (name === undefined) continue;
      const remaining = (held.get(name) ?? 0) - 1;
      if (remaining > 0) held.set(name, remaining);
      else held.delete(name);
    }
  }

  #findHeld(level: ShareLevel): Map<string, number> | undefined {
    return this.#levels.find((bounds) => bounds.level === level)?.held;
  }
}
