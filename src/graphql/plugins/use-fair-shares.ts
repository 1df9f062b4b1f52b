/**
 * Spends the cost of operations from the rates of their callers, and runs operations at their turn within the shares of
 * their callers.
 */
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Services } from '../../domain/access/call.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { toWeight } from '../../domain/access/viewer/share/process-shares.ts';
import { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';

interface FairShareParts {
  services: Services;
  admission: Pick<Admission, 'spend'>;
  mapError: (error: unknown) => GraphQLError;
}

/**
 * Must follow useCost, and useDeadline, which would otherwise count the wait for the turn. Must precede
 * useResolverContext.
 */
export function useFairShares({ services, admission, mapError }: FairShareParts): OperationPlugin {
  const { config, shares, meters } = services;
  return {
    onContextBuilding({ context, extendContext }) {
      const { viewer, cost, slot } = context;
      const weight = toWeight(config, cost?.cost ?? 0);
      const { turns, pacer } = shares;
      extendContext({
        weight,
        ...(turns.isHeavy(weight) && { pace: pacer.createPace() }),
        ...(!slot && { slot: new RequestSlot(shares, meters), ownsSlot: true }),
      });
      // Admission has counted one request already.
      return viewer && weight > 1 ? admission.spend(viewer, weight - 1, context) : undefined;
    },
    onExecute({ context, executeFn, setExecuteFn }) {
      // Executions for one event of a stream are bounded by the number of streams.
      if (context.operation?.operation === 'subscription') return;
      setExecuteFn((args) => runInTurn(context, () => executeFn(args)));
    },
    onSubscribe({ context, subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        try {
          return await runInTurn(context, () => subscribeFn(args));
        } catch (error) {
          return { errors: [mapError(error)] } satisfies ExecutionResult;
        }
      });
    },
  };
}

type Pending<T> = T | Promise<T>;

function runInTurn<T>(context: OperationContext, work: () => Pending<T>): Pending<T> {
  const { viewer, slot, ownsSlot, weight = 1 } = context;
  if (!slot) return work();
  const end = () => {
    slot.finishWork();
    // Over HTTP, the slot lasts until the response is sent.
    if (ownsSlot) slot.release();
  };
  const run = () => runAndEnd(work, end);
  if (viewer) slot.countByCaller(viewer);
  const turn = slot.startWork(weight);
  if (!turn) return run();
  return turn.then(run, (error: unknown) => {
    end();
    throw error;
  });
}

function runAndEnd<T>(work: () => Pending<T>, end: () => void): Pending<T> {
  let result: Pending<T>;
  try {
    result = work();
  } catch (error) {
    end();
    throw error;
  }
  if (result instanceof Promise) return result.finally(end);
  end();
  return result;
}
