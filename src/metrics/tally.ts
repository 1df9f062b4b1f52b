import { Histogram, type LabelValues, type Registry } from 'prom-client';

type Value = string | number;

interface Series {
  labels: LabelValues<string>;
  /** How many fell below each bound, and not below the one before it. */
  counts: Float64Array;
  count: number;
  sum: number;
}

export interface TallyShape {
  name: string;
  help: string;
  labels: readonly string[];
  buckets: readonly number[];
  registry: Registry;
}

/**
 * A histogram of what happens with each request. The library's own checks, sorts and joins the labels of each
 * observation, which costs a short request several per cent; here their values are all that is looked at.
 */
export class Tally extends Histogram<string> {
  readonly #name: string;
  /** The library's own, which stays empty: it says what a histogram is. */
  readonly #empty: Histogram<string>;
  readonly #labels: readonly string[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor({ name, help, labels, buckets, registry }: TallyShape) {
    const shape = { name, help, labelNames: labels, buckets: [...buckets] };
    super({ ...shape, registers: [registry] });
    this.#empty = new Histogram({ ...shape, registers: [] });
    this.#name = name;
    this.#labels = labels;
    this.#bounds = buckets;
    if (labels.length === 0) this.#seriesOf([], '');
  }

  /** The values of its labels are in their order. */
  add(value: number, labels: readonly Value[] = []): void {
    const key = labels.join('\n');
    const series = this.#series.get(key) ?? this.#seriesOf(labels, key);
    series.count += 1;
    series.sum += value;
    for (let at = 0; at < this.#bounds.length; at += 1) {
      if (value > this.#bounds[at]!) continue;
      series.counts[at]! += 1;
      return;
    }
  }

  #seriesOf(values: readonly Value[], key: string): Series {
    const labels = Object.fromEntries(this.#labels.map((name, at) => [name, values[at] ?? '']));
    const counts = new Float64Array(this.#bounds.length);
    const series = { labels, counts, count: 0, sum: 0 };
    this.#series.set(key, series);
    return series;
  }

  override async get() {
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
    return { ...(await this.#empty.get()), values };
  }

  /** What the registry asks instead of `get`, if it is there. */
  getForPromString() {
    return this.get();
  }

  #valuesOf({ labels, counts, count, sum }: Series) {
    const bucket = (le: Value, value: number) => ({
      metricName: `${this.#name}_bucket`,
      labels: { le, ...labels },
      value,
    });
    let below = 0;
    const buckets = this.#bounds.map((bound, at) => {
      below += counts[at]!;
      return bucket(bound, below);
    });
    return [
      ...buckets,
      bucket('+Inf', count),
      { metricName: `${this.#name}_sum`, labels, value: sum },
      { metricName: `${this.#name}_count`, labels, value: count },
    ];
  }
}
