/** The delivery of messages, as the app starts and stops it. */
import { type DeliveryDeps, DeliveryWorker } from './delivery-worker.ts';

export interface Deliveries extends AsyncDisposable {
  /** Deliveries may be due: call it after a commit that creates some. */
  wake(): void;
}

/** Sends from now on. Disposing of it waits for running attempts; the rest is sent later. */
export function startDeliveries(deps: DeliveryDeps): Deliveries {
  const worker = new DeliveryWorker(deps);
  const running = worker.run();
  return {
    wake: () => worker.wake(),
    [Symbol.asyncDispose]: () => worker.stop(running),
  };
}
