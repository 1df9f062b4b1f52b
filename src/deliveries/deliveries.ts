/** The delivery of messages, as the app starts and stops it. */
import { type DeliveryDeps, DeliveryWorker } from './delivery-worker.ts';

export interface Deliveries extends AsyncDisposable {
  /** Something may be due: to be called after a commit that owes deliveries. */
  wake(): void;
}

/** Sends from now on; disposing of it waits for what is under way, and leaves the rest to be sent later. */
export function startDeliveries(deps: DeliveryDeps): Deliveries {
  const worker = new DeliveryWorker(deps);
  const running = worker.run();
  return {
    wake: () => worker.wake(),
    [Symbol.asyncDispose]: () => worker.stop(running),
  };
}
