import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Tally } from '../../src/metrics/tally.ts';

const SHAPE = { name: 'seconds', help: 'How long it took.', buckets: [0.1, 0.5, 1] };

function both(labels: readonly string[]) {
  const [ours, theirs] = [new Registry(), new Registry()];
  const tally = new Tally({ ...SHAPE, labels, registry: ours });
  const histogram = new Histogram({ ...SHAPE, labelNames: [...labels], registers: [theirs] });
  return { tally, histogram, texts: () => Promise.all([ours.metrics(), theirs.metrics()]) };
}

/** A line's labels may stand in any order. */
const linesOf = (text: string) =>
  text.split('\n').map((line) => {
    const [, name, labels = '', value] = /^(\w+)\{(.*)\} (.*)$/.exec(line) ?? [];
    return name ? `${name} ${labels.split(',').toSorted()} ${value}` : line;
  });

test("a tally reads as the library's histogram of the same values", async () => {
  const { tally, histogram, texts } = both(['route', 'status']);
  const observed: [number, string, number][] = [
    [0.1, '/graphql', 200],
    [0.1001, '/graphql', 200],
    [1, '/graphql', 500],
    [7, '/v1/*', 200],
    [0, 'a "quoted" \\ route\nof two lines', 200],
  ];
  for (const [value, route, status] of observed) {
    tally.add(value, [route, status]);
    histogram.observe({ route, status }, value);
  }
  const [ours, theirs] = await texts();
  expect(linesOf(ours)).toEqual(linesOf(theirs));
  expect(ours).toContain('seconds_count{route="/graphql",status="200"} 2');
});

test('without labels it is there before anything was added', async () => {
  const { tally, histogram, texts } = both([]);
  const [before, theirsBefore] = await texts();
  expect(before).toBe(theirsBefore);
  tally.add(0.3);
  histogram.observe(0.3);
  const [after, theirsAfter] = await texts();
  expect(after).toBe(theirsAfter);
  expect(after).toContain('seconds_bucket{le="0.5"} 1');
});
