/** The amount of work in each part of a run. */
export interface BenchSizes {
  /** Subscribers of the part `fan-out`. */
  subscribers: number;
  /** Events in a transaction of the part `fan-out`. With few, recording would take more time than sending. */
  burstEvents: number;
  /** Messages before the part `deliveries` is timed. */
  deliveriesWarmUp: number;
  /** Numbers of processes of the part `event-log`. */
  logProcesses: readonly number[];
  /** Concurrent callers of the part `event-log`, in all processes together. */
  logCallers: readonly number[];
  /** Records of the backfill of the part `moving`. */
  backfillRecords: number;
  /** Old deliveries of the part `retention`. */
  oldDeliveries: number;
  /** Stored events while the part `inbound` measures memory. */
  waitingEvents: number;
  /** Requests of the part `inbound` while events wait. */
  requestsWhileWaiting: number;
  /** Warm-up of the part `inbound` before its latencies are measured. */
  inboundWarmUpSeconds: number;
  /** Time until the part `start-up` measures memory. The garbage of the start has then been collected. */
  idleMs: number;
  /** Servers of each kind in the part `observing`. */
  observedServers: number;
  /** Length of a server's turn in `drive-in-slices.ts`. */
  sliceMs: number;
  /** Warm-up slices of each server before `drive-in-slices.ts` measures. */
  warmUpSlices: number;
}

const DEFAULT_SIZES: BenchSizes = {
  subscribers: 1_000,
  burstEvents: 50,
  deliveriesWarmUp: 2_000,
  logProcesses: [1, 4],
  logCallers: [64, 256],
  backfillRecords: 100_000,
  oldDeliveries: 1_000_000,
  waitingEvents: 50_000,
  requestsWhileWaiting: 1_000,
  inboundWarmUpSeconds: 5,
  idleMs: 3_000,
  // Four, because two identical servers can differ by a few percent.
  observedServers: 4,
  sliceMs: 150,
  warmUpSlices: 20,
};

const LARGE_SIZES: BenchSizes = {
  ...DEFAULT_SIZES,
  oldDeliveries: 10_000_000,
  waitingEvents: 1_000_000,
};

/** The smallest sizes with which every part prints figures. The figures are not meaningful. */
const SMOKE_SIZES: BenchSizes = {
  subscribers: 20,
  burstEvents: 10,
  deliveriesWarmUp: 50,
  logProcesses: [1, 2],
  logCallers: [4],
  backfillRecords: 500,
  oldDeliveries: 2_000,
  waitingEvents: 200,
  requestsWhileWaiting: 20,
  inboundWarmUpSeconds: 0.1,
  idleMs: 0,
  observedServers: 1,
  sliceMs: 20,
  warmUpSlices: 1,
};

/** The defaults of flags in a smoke run. */
export const SMOKE_FLAGS = { seconds: 0.05, rounds: 1, runs: 1, sockets: 4, operations: 2_000 };

export function getSizes({ smoke, large }: { smoke: boolean; large: boolean }): BenchSizes {
  if (smoke) return SMOKE_SIZES;
  return large ? LARGE_SIZES : DEFAULT_SIZES;
}
