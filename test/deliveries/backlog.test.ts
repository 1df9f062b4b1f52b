import { expect, test } from 'vitest';
import { Backlog } from '../../src/deliveries/backlog.ts';
import type { ClaimedDelivery } from '../../src/deliveries/claim.ts';
import { DELIVERY_LIMITS } from '../../src/deliveries/limits.ts';

const LIMITS = { ...DELIVERY_LIMITS, inFlight: 6, inFlightPerDestination: 2, inFlightFailing: 3 };
const QUICKLY = { isSuccess: true, durationMs: 1 };

let count = 0;
function createDelivery(
  destinationId: string,
  { isFailing = false, startByMs = 1_000, projectId = destinationId } = {},
): ClaimedDelivery {
  count += 1;
  const row = { id: `dlv_${count}`, projectId, destinationId, isFailing } as ClaimedDelivery['row'];
  return { row, bodyBytes: 10, target: null, startByMs, clockOffsetMs: 0 };
}

function take(backlog: Backlog, nowMs = 0): ClaimedDelivery[] {
  const received: ClaimedDelivery[] = [];
  for (let next = backlog.takeNext(nowMs); next; next = backlog.takeNext(nowMs))
    received.push(next);
  return received;
}

function listDestinations(deliveries: ClaimedDelivery[]): string[] {
  return deliveries.map(({ row }) => row.destinationId);
}

test('alternates between destinations, and limits the messages in flight of each', () => {
  const backlog = new Backlog(LIMITS);
  backlog.add([
    createDelivery('a'),
    createDelivery('a'),
    createDelivery('a'),
    createDelivery('b'),
    createDelivery('c'),
  ]);
  const first = take(backlog);
  expect(listDestinations(first)).toEqual(['a', 'b', 'c', 'a']);
  const [deliveryOfA] = first;
  if (!deliveryOfA) return expect.unreachable();
  backlog.endAttempt(deliveryOfA, QUICKLY);
  expect(listDestinations(take(backlog))).toEqual(['a']);
});

test('limits the messages in flight of all destinations', () => {
  const backlog = new Backlog(LIMITS);
  backlog.add(['a', 'b', 'c', 'd', 'e'].flatMap((id) => [createDelivery(id), createDelivery(id)]));
  expect(listDestinations(take(backlog))).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
});

test('leaves room in flight for another project', () => {
  const backlog = new Backlog(LIMITS);
  const greedy = { projectId: 'greedy' };
  backlog.add(
    ['a', 'b', 'c', 'd'].flatMap((id) => [createDelivery(id, greedy), createDelivery(id, greedy)]),
  );
  expect(listDestinations(take(backlog))).toEqual(['a', 'b', 'c', 'd', 'a']);
  backlog.add([createDelivery('e', { projectId: 'quiet' })]);
  expect(listDestinations(take(backlog))).toEqual(['e']);
});

test('limits the messages in flight of failing destinations, including newly failing ones', () => {
  const backlog = new Backlog(LIMITS);
  const isFailing = true;
  backlog.add(['a', 'b', 'c', 'd'].map((id) => createDelivery(id, { isFailing })));
  expect(listDestinations(take(backlog))).toEqual(['a', 'b', 'c']);
  backlog.add([createDelivery('e'), createDelivery('e'), createDelivery('e')]);
  const [e1, e2] = take(backlog);
  if (!e1 || !e2) return expect.unreachable();
  expect(listDestinations([e1, e2])).toEqual(['e', 'e']);
  backlog.endAttempt(e1, { isSuccess: false, durationMs: 1 });
  // The second delivery of the destination still counts, now as failing.
  expect(take(backlog)).toEqual([]);
  backlog.endAttempt(e2, QUICKLY);
  expect(listDestinations(take(backlog))).toEqual(['e']);
});

test('removes deliveries from the backlog that waited too long', () => {
  const backlog = new Backlog(LIMITS);
  const [late, inTime] = [
    createDelivery('a', { startByMs: 10 }),
    createDelivery('a', { startByMs: 20 }),
  ];
  backlog.add([late, inTime]);
  expect(take(backlog, 11)).toEqual([inTime]);
  expect(backlog.takeStale()).toEqual([late]);
  expect(backlog.takeStale()).toEqual([]);
});

test('raises the allowance of a destination while it responds quickly', () => {
  const backlog = new Backlog(LIMITS);
  const first = createDelivery('a');
  backlog.add([first]);
  expect(backlog.getFreeCapacities()).toEqual(new Map([['a', 1]]));
  take(backlog);
  backlog.endAttempt(first, QUICKLY);
  backlog.drop([first]);
  expect(backlog.getFreeCapacities()).toEqual(new Map([['a', LIMITS.heldPerQuickDestination]]));
  const second = createDelivery('a');
  backlog.add([second]);
  take(backlog);
  backlog.endAttempt(second, { isSuccess: true, durationMs: LIMITS.quickMs + 1 });
  backlog.drop([second]);
  expect(backlog.getFreeCapacities()).toEqual(new Map());
});

test('counts deliveries and bytes until they are dropped', () => {
  const backlog = new Backlog(LIMITS);
  const deliveries = [createDelivery('a'), createDelivery('b', { isFailing: true })];
  backlog.add(deliveries);
  expect(backlog).toMatchObject({ heldRows: 2, heldBytes: 20 });
  backlog.drop(backlog.takeWaiting('a'));
  expect(backlog).toMatchObject({ heldRows: 1, heldBytes: 10 });
  backlog.drop(backlog.takeWaiting());
  expect(backlog).toMatchObject({ heldRows: 0, heldBytes: 0 });
  expect(backlog.getCapacities().byProject).toEqual(new Map());
});

test('allows a project three quarters of the free room, and failing rows a quarter of the total', () => {
  const backlog = new Backlog({ ...LIMITS, heldRows: 80, heldBytes: 400 });
  expect(backlog.getCapacities().other).toEqual({ rows: 60, bytes: 300, failing: 15 });
  const greedy = { projectId: 'greedy' };
  const deliveries = [
    ...Array.from({ length: 20 }, () => createDelivery('a', greedy)),
    ...Array.from({ length: 4 }, () => createDelivery('b', { ...greedy, isFailing: true })),
  ];
  backlog.add(deliveries);
  expect(backlog.getCapacities()).toEqual({
    byProject: new Map([['greedy', { rows: 36, bytes: 60, failing: 11 }]]),
    other: { rows: 42, bytes: 120, failing: 12 },
  });
  backlog.add(Array.from({ length: 6 }, () => createDelivery('a', greedy)));
  // Without room for bytes, there is none for rows.
  expect(backlog.getCapacities().byProject.get('greedy')).toEqual({
    rows: 0,
    bytes: 0,
    failing: 11,
  });
});
