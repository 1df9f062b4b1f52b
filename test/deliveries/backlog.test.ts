import { expect, test } from 'vitest';
import { Backlog } from '../../src/deliveries/backlog.ts';
import { DELIVERY_LIMITS } from '../../src/deliveries/limits.ts';
import type { ClaimedDelivery } from '../../src/deliveries/outbox.ts';

const LIMITS = { ...DELIVERY_LIMITS, inFlight: 6, inFlightPerDestination: 2, inFlightFailing: 3 };
const QUICK_SUCCESS = { isSuccess: true, durationMs: 1 };

let deliveryCount = 0;
function createDelivery(
  destinationId: string,
  { isFailing = false, startByMs = 1_000, projectId = destinationId } = {},
): ClaimedDelivery {
  deliveryCount += 1;
  const row = {
    id: `dlv_${deliveryCount}`,
    projectId,
    destinationId,
    isFailing,
  } as ClaimedDelivery['row'];
  return { row, bodyBytes: 10, target: null, startByMs, clockOffsetMs: 0 };
}

function takeAll(backlog: Backlog, nowMs = 0): ClaimedDelivery[] {
  const taken: ClaimedDelivery[] = [];
  for (let delivery = backlog.takeNext(nowMs); delivery; delivery = backlog.takeNext(nowMs))
    taken.push(delivery);
  return taken;
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
  const firstDeliveries = takeAll(backlog);
  expect(listDestinations(firstDeliveries)).toEqual(['a', 'b', 'c', 'a']);
  const [deliveryOfA] = firstDeliveries;
  if (!deliveryOfA) return expect.unreachable();
  backlog.endAttempt(deliveryOfA, QUICK_SUCCESS);
  expect(listDestinations(takeAll(backlog))).toEqual(['a']);
});

test('limits the messages in flight of all destinations', () => {
  const backlog = new Backlog(LIMITS);
  backlog.add(['a', 'b', 'c', 'd', 'e'].flatMap((id) => [createDelivery(id), createDelivery(id)]));
  expect(listDestinations(takeAll(backlog))).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
});

test('reserves capacity in flight for other projects', () => {
  const backlog = new Backlog(LIMITS);
  const greedy = { projectId: 'greedy' };
  backlog.add(
    ['a', 'b', 'c', 'd'].flatMap((id) => [createDelivery(id, greedy), createDelivery(id, greedy)]),
  );
  expect(listDestinations(takeAll(backlog))).toEqual(['a', 'b', 'c', 'd', 'a']);
  backlog.add([createDelivery('e', { projectId: 'quiet' })]);
  expect(listDestinations(takeAll(backlog))).toEqual(['e']);
});

test('limits the messages in flight of failing destinations, including destinations that begin to fail', () => {
  const backlog = new Backlog(LIMITS);
  const isFailing = true;
  backlog.add(['a', 'b', 'c', 'd'].map((id) => createDelivery(id, { isFailing })));
  expect(listDestinations(takeAll(backlog))).toEqual(['a', 'b', 'c']);
  backlog.add([createDelivery('e'), createDelivery('e'), createDelivery('e')]);
  const [failedDelivery, succeededDelivery] = takeAll(backlog);
  if (!failedDelivery || !succeededDelivery) return expect.unreachable();
  expect(listDestinations([failedDelivery, succeededDelivery])).toEqual(['e', 'e']);
  backlog.endAttempt(failedDelivery, { isSuccess: false, durationMs: 1 });
  // The second delivery of the destination still counts, now as failing.
  expect(takeAll(backlog)).toEqual([]);
  backlog.endAttempt(succeededDelivery, QUICK_SUCCESS);
  expect(listDestinations(takeAll(backlog))).toEqual(['e']);
});

test('removes deliveries from the backlog that waited too long', () => {
  const backlog = new Backlog(LIMITS);
  const [lateDelivery, timelyDelivery] = [
    createDelivery('a', { startByMs: 10 }),
    createDelivery('a', { startByMs: 20 }),
  ];
  backlog.add([lateDelivery, timelyDelivery]);
  expect(takeAll(backlog, 11)).toEqual([timelyDelivery]);
  expect(backlog.takeStale()).toEqual([lateDelivery]);
  expect(backlog.takeStale()).toEqual([]);
});

test('raises the allowance of a destination while it responds quickly', () => {
  const backlog = new Backlog(LIMITS);
  const quickDelivery = createDelivery('a');
  backlog.add([quickDelivery]);
  expect(backlog.getFreeRowsByDestination()).toEqual(new Map([['a', 1]]));
  takeAll(backlog);
  backlog.endAttempt(quickDelivery, QUICK_SUCCESS);
  backlog.drop([quickDelivery]);
  expect(backlog.getFreeRowsByDestination()).toEqual(
    new Map([['a', LIMITS.heldPerQuickDestination]]),
  );
  const slowDelivery = createDelivery('a');
  backlog.add([slowDelivery]);
  takeAll(backlog);
  backlog.endAttempt(slowDelivery, { isSuccess: true, durationMs: LIMITS.quickMs + 1 });
  backlog.drop([slowDelivery]);
  expect(backlog.getFreeRowsByDestination()).toEqual(new Map());
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
  expect(backlog.getProjectCapacities().byProject).toEqual(new Map());
});

test('allows a project three quarters of the free capacity, and a quarter of that for failing rows', () => {
  const backlog = new Backlog({ ...LIMITS, heldRows: 80, heldBytes: 400 });
  expect(backlog.getProjectCapacities().other).toEqual({ rows: 60, bytes: 300, failing: 15 });
  const greedy = { projectId: 'greedy' };
  const deliveries = [
    ...Array.from({ length: 20 }, () => createDelivery('a', greedy)),
    ...Array.from({ length: 4 }, () => createDelivery('b', { ...greedy, isFailing: true })),
  ];
  backlog.add(deliveries);
  expect(backlog.getProjectCapacities()).toEqual({
    byProject: new Map([['greedy', { rows: 36, bytes: 60, failing: 11 }]]),
    other: { rows: 42, bytes: 120, failing: 12 },
  });
  backlog.add(Array.from({ length: 6 }, () => createDelivery('a', greedy)));
  // A project without free bytes may hold no more rows.
  expect(backlog.getProjectCapacities().byProject.get('greedy')).toEqual({
    rows: 0,
    bytes: 0,
    failing: 11,
  });
});
